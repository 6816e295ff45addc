/** What is for Node alone has an entry point of its own. */

export { sessionStreams } from './transport/stdio.js';
