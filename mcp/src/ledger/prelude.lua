-- How each script begins; `finish.lua` is how it ends. `mcp/src/ledger/evaluate.rs` does the same for stores with transactions.
-- Every run makes its functions anew, so there is one.

local call, find, match = redis.call, string.find, string.match
local KEYS, ARGV = KEYS, ARGV

-- The store's clock, in Unix seconds: as a text, and as a number.
local clock = call('TIME')[1]
local now = tonumber(clock)

-- What to write when all tokens passed: a key, its value or false, and the time of its removal, '0' for never, and so on.
local writes, many = {}, 0
-- What follows `ok`, and whether something ends.
local reply, ends = { 'ok' }, false

-- The form of a number, and of a session's latest state: its token, its generation, its end, and its text.
local NUMBER, HEAD = '^%d+$', '^(%S*) (%d+) (%d+) (%S*)$'

-- What INFO says; and RUN (LEDGER.md), or '-' if it lacks a member.
local told, run

-- Returns both, and the process and the number of evictions once more.
local function process()
  local info = redis.pcall('INFO', 'server', 'stats', 'replication')
  if type(info) ~= 'string' then
    -- Before Redis 7 one call has one section. Some services forbid INFO in scripts.
    info = ''
    for _, section in ipairs({ 'server', 'stats', 'replication' }) do
      local one = redis.pcall('INFO', section)
      info = info .. (type(one) == 'string' and one or '')
    end
  end
  local function member(name)
    local _, at = string.find(info, name, 1, true)
    return at and string.match(info, '^%w+', at + 1)
  end
  local server, evicted, id = member('run_id:'), member('evicted_keys:'), member('master_replid:')
  if not (server and id and evicted) then
    return info, '-', '-', 0
  end
  return info, server .. '.' .. id .. '.' .. evicted, server, tonumber(evicted)
end

