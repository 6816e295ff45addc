// The server of @supabase/mcp-server-supabase over HTTP, as its users serve it by themselves; with the argument `guarded`, in four
// lines more.

import { createServer } from 'node:http';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { createSupabaseMcpServer } from '@supabase/mcp-server-supabase';
import { createSupabaseApiPlatform } from '@supabase/mcp-server-supabase/platform/api';
import { Codec } from 'sealwax';
import { Guard } from 'sealwax/mcp';

const { PORT, SEALWAX_KEYS: keys } = process.env;
const codec = new Codec({ keys, audience: 'https://supabase.example.com' });
const guard = new Guard({ codec, principal: 'anonymous' });
// No upstream is there, of which the other features have their descriptions.
const platform = createSupabaseApiPlatform({
  accessToken: 'sbp_none',
  apiUrl: 'http://127.0.0.1:9',
});
const features = ['account', 'database', 'debugging', 'development'];
const made = () => createSupabaseMcpServer({ platform, features });
const factory = process.argv[2] === 'guarded' ? () => guard.protect(made()) : made;
createServer(guard.node(createMcpHandler(factory).fetch)).listen(PORT, '127.0.0.1');
