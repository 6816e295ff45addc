// The two majors of the SDK, for the scenario server: a server whose every handler is one function, and how it is served.

const INFO = { name: 's', version: '1' };
const CAPABILITIES = { tools: {}, resources: {}, prompts: {} };
const METHODS = [
  ...['tools/call', 'prompts/get', 'resources/read'],
  ...['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'],
];
const OWN = ['demo/play', 'demo/things/list'];
const ANYTHING = { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } };

/** Of `@modelcontextprotocol/server`. */
export async function second() {
  const { createMcpHandler, Server } = await import('@modelcontextprotocol/server');
  const { StdioServerTransport, serveStdio } = await import('@modelcontextprotocol/server/stdio');
  return {
    server(run) {
      const server = new Server(INFO, { capabilities: CAPABILITIES });
      for (const method of METHODS)
        server.setRequestHandler(method, ({ params }, ctx) => run(params, ctx, method));
      for (const method of OWN) server.setRequestHandler(method, { params: ANYTHING }, run);
      server.setNotificationHandler('notifications/demo', { params: ANYTHING }, () => run());
      return server;
    },
    header: ({ http }, name) => http?.req.headers.get(name),
    plain: (served) => listenerOf(createMcpHandler(served).fetch),
    wrapped: (served, guard, settings) =>
      listenerOf(guard.fetch(createMcpHandler(served).fetch, settings)),
    onLines: (served, streams) =>
      serveStdio(served, { transport: new StdioServerTransport(...streams) }),
  };
}

/** As a platform does it that has nothing of Node's: a whole request, and a whole response. */
function listenerOf(fetch) {
  return async (request, response) => {
    const body = [];
    for await (const chunk of request) body.push(chunk);
    const { method, url, rawHeaders } = request;
    const headers = new Headers();
    for (let at = 0; at < rawHeaders.length; at += 2)
      headers.append(rawHeaders[at], rawHeaders[at + 1]);
    const with_ = body.length > 0 && { body: Buffer.concat(body) };
    const answer = await fetch(
      new Request(`http://localhost${url}`, { method, headers, ...with_ }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  };
}

/** Of a package of `@modelcontextprotocol/sdk`; `more` is for its transport of HTTP. */
export async function first(name, more = {}) {
  const { LATEST_PROTOCOL_VERSION: revision } = await import(`${name}/types.js`);
  const { Server } = await import(`${name}/server/index.js`);
  const { StreamableHTTPServerTransport } = await import(`${name}/server/streamableHttp.js`);
  const { StdioServerTransport } = await import(`${name}/server/stdio.js`);
  const listening = (served) => async (request, response) => {
    const settings = { sessionIdGenerator: undefined, ...more };
    const transport = new StreamableHTTPServerTransport(settings);
    const server = served();
    response.on('close', () => server.close());
    await server.connect(transport);
    await transport.handleRequest(request, response, request.body);
  };
  return {
    revision,
    server(run) {
      const server = new Server(INFO, { capabilities: CAPABILITIES });
      server.fallbackRequestHandler = ({ params, method }, extra) => run(params, extra, method);
      server.fallbackNotificationHandler = async ({ method }) => {
        if (method === 'notifications/demo') await run();
      };
      return server;
    },
    header: ({ requestInfo }, name) => requestInfo?.headers[name],
    plain: listening,
    wrapped: (served, guard, settings) => guard.listener(listening(served), settings),
    onLines: (served, streams) => served().connect(new StdioServerTransport(...streams)),
  };
}
