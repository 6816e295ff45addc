// An agent that does what agents.mjs asks for.
import { Agent, getAgentByName } from 'agents';

export class Errand extends Agent {
  async onRequest(request) {
    const { url, method, params } = await request.json();
    this.id ??= (await this.addMcpServer('it', url)).id;
    try {
      return Response.json(await this.mcp[method]({ serverId: this.id, ...params }, {}));
    } catch ({ message }) {
      return Response.json({ message });
    }
  }
}
export default {
  fetch: async (request, env) => (await getAgentByName(env.Errand, 'it')).fetch(request),
};
