-- How each script begins; `finish.lua` is how it ends. `mcp/src/ledger/judge.rs` does the same for stores with transactions.
-- Every run makes the functions anew, so there is one.

local call, find, match = redis.call, string.find, string.match

-- The store's clock, in Unix seconds: as a text, and as a number.
local clock = call('TIME')[1]
local now = tonumber(clock)

-- What to write when all tokens passed: a key, its value or false, and the time of its removal, '0' for never, and so on.
local writes, many = {}, 0
-- What follows `ok`, and whether something ends.
local reply, ends = { 'ok' }, false

-- The form of a number, and of a session's latest state: its token, its generation, its end, and its text.
local NUMBER, HEAD = '^%d+$', '^(%S*) (%d+) (%d+) (%S*)$'

-- What INFO says. If a member is missing, a fail-over may go unnoticed (`blind`), and a replica must confirm each command.
local told, blind

-- Returns which process the store is, since which promotion, and how many keys it evicted. A server that was promoted, failed
-- over, and is promoted again keeps its `run_id`; the other id changes at each promotion.
local function process()
  told = redis.pcall('INFO', 'server', 'stats', 'replication')
  if type(told) ~= 'string' then
    -- Before Redis 7 one call has one section. Some services forbid INFO in scripts.
    told = ''
    for _, section in ipairs({ 'server', 'stats', 'replication' }) do
      local one = redis.pcall('INFO', section)
      told = told .. (type(one) == 'string' and one or '')
    end
  end
  local function member(name)
    local _, at = find(told, name, 1, true)
    return at and match(told, '^%w+', at + 1)
  end
  local server, evicted, id = member('run_id:'), member('evicted_keys:'), member('master_replid:')
  if not (server and id and evicted) then
    blind = true
    return '-', '-', 0
  end
  return server, server .. '.' .. id .. '.' .. evicted, tonumber(evicted)
end

