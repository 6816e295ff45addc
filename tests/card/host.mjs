// A host of MCP Apps: the official client, and the bridge of ext-apps between it and the page.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  AppBridge,
  getToolUiResourceUri,
  isToolVisibilityAppOnly,
  PostMessageTransport,
  RESOURCE_MIME_TYPE,
} from '@modelcontextprotocol/ext-apps/app-bridge';

const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: [RESOURCE_MIME_TYPE] } };
const ME = { name: 'host', version: '1.0.0' };
let client;
let tools;

window.host = {
  /** Connects, and returns the tools that the model is shown. */
  async connect(revision) {
    const versionNegotiation = { mode: revision < '2026' ? 'legacy' : { pin: revision } };
    client = new Client(ME, { capabilities: { extensions }, versionNegotiation });
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', location)));
    ({ tools } = await client.listTools());
    return tools.filter((tool) => !isToolVisibilityAppOnly(tool)).map(({ name }) => name);
  },

  call: (params) => client.callTool(params),

  /** Draws the page of a call's tool. What it tells the model and the conversation is kept in `heard`. */
  async draw(params, result, hostContext = {}) {
    const tool = tools.find(({ name }) => name === params.name);
    const page = await client.readResource({ uri: getToolUiResourceUri(tool) });
    const frame = document.createElement('iframe');
    frame.sandbox = 'allow-scripts';
    frame.width = 600;
    document.body.replaceChildren(frame);
    const text = { text: {} };
    const capabilities = { serverTools: {}, message: text, updateModelContext: text };
    const bridge = new AppBridge(client, ME, capabilities, { hostContext });
    Object.assign(window.host, { bridge, heard: [] });
    bridge.onmessage = async (message) => window.host.heard.push({ message }) && {};
    bridge.onupdatemodelcontext = async (context) => window.host.heard.push({ context }) && {};
    bridge.onsizechange = ({ height }) => {
      frame.height = height;
    };
    bridge.oninitialized = async () => {
      await bridge.sendToolInput({ arguments: params.arguments });
      if (result) await bridge.sendToolResult(result);
    };
    await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
    frame.srcdoc = page.contents[0].text;
  },
};
