// Invokes the function of docs/recipes/lambda.md, as a function URL does, with what visit.mjs sends.

import { handler } from './dist/lambda.mjs';
import { visit } from './visit.mjs';

/** The event of a request (payload format 2.0), and the response of its result. */
async function invoke(input, init) {
  const request = new Request(input, init);
  const { hostname, pathname, search } = new URL(request.url);
  const event = {
    version: '2.0',
    routeKey: '$default',
    rawPath: pathname,
    rawQueryString: search.slice(1),
    headers: { host: hostname, ...Object.fromEntries(request.headers) },
    requestContext: {
      accountId: 'anonymous',
      apiId: 'notes',
      domainName: hostname,
      domainPrefix: 'notes',
      http: {
        method: request.method,
        path: pathname,
        protocol: 'HTTP/1.1',
        sourceIp: '192.0.2.1',
        userAgent: 'visit',
      },
      requestId: crypto.randomUUID(),
      routeKey: '$default',
      stage: '$default',
      time: new Date().toISOString(),
      timeEpoch: Date.now(),
    },
    body: Buffer.from(await request.arrayBuffer()).toString('base64'),
    isBase64Encoded: true,
  };
  const context = { awsRequestId: event.requestContext.requestId, functionName: 'notes' };
  const { statusCode, headers, body, isBase64Encoded } = await handler(event, context);
  const bytes = isBase64Encoded ? Buffer.from(body, 'base64') : body;
  const hasNone = [101, 204, 205, 304].includes(statusCode);
  return new Response(hasNone ? null : bytes, { status: statusCode, headers });
}

await visit({ ...JSON.parse(process.argv[2]), fetch: invoke });
