-- The common part of all scripts. `mcp/src/ledger/judge.rs` does the same for stores with transactions.

-- The store's clock, in Unix seconds.
local now = tonumber(redis.call('TIME')[1])
local writes = {}

-- Ends the script with this reply, and discards `writes`.
local function refuse(...)
  error({ reply = { ... } })
end

local function digits(number)
  return string.format('%.0f', number)
end

-- Reads a number; a value of another form than the ledger's is refused.
local function number(key)
  local value = redis.call('GET', key)
  if value and not string.match(value, '^%d+$') then
    refuse('broken', key)
  end
  return value and tonumber(value)
end

-- `till` is the Unix time of its removal; 0 for never.
local function write(key, value, till)
  writes[#writes + 1] = { key, value, till }
end

-- Reads the latest state of a session.
local function head(key)
  local value = redis.call('GET', key)
  if not value then
    return nil
  end
  local token, generation, till, state = string.match(value, '^(%S*) (%d+) (%d+) (%S*)$')
  if not token then
    refuse('broken', key)
  end
  return { token = token, generation = tonumber(generation), till = tonumber(till), state = state }
end

-- Writes a head; it lives until the latest end of all states it ever had.
local function put_head(key, token, generation, till, state, before)
  if before and (before.till == 0 or till == 0) then
    till = 0
  elseif before and before.till > till then
    till = before.till
  end
  local value = table.concat({ token, digits(generation), digits(till), state }, ' ')
  write(key, value, till)
end

-- Reads the sections of INFO that name the store's process; before Redis 7 one call has one section. Some
-- services forbid INFO in scripts.
local function info()
  local told = redis.pcall('INFO', 'server', 'stats', 'replication')
  if type(told) == 'string' then
    return told
  end
  local parts = {}
  for at, section in ipairs({ 'server', 'stats', 'replication' }) do
    told = redis.pcall('INFO', section)
    parts[at] = type(told) == 'string' and told or ''
  end
  return table.concat(parts)
end

-- Reads a member of INFO.
local function member(told, name)
  local _, at = string.find(told, name, 1, true)
  return at and string.match(told, '^%w+', at + 1)
end

-- Returns which process the store is, since which promotion, and how many keys it evicted. A server that was
-- promoted, failed over, and is promoted again keeps its `run_id`; the other id changes at each promotion. If a
-- member is missing, a fail-over may go unnoticed (`blind`), and a replica must confirm each command.
local blind, replication
local function process()
  replication = info()
  local server, evicted = member(replication, 'run_id:'), member(replication, 'evicted_keys:')
  local id = member(replication, 'master_replid:')
  if not (server and id and evicted) then
    blind = true
    return '-', '-', 0
  end
  return server, server .. '.' .. id .. '.' .. evicted, tonumber(evicted)
end

-- Returns the start of the ledger's memory, and the fence: the last time at which it may have forgotten
-- something. The fence is set to the store's time when the store is another process or was promoted, because a
-- restart or a fail-over may lose the last moments, and when its clock went back, because records were dropped
-- too early. Ends are kept for 300 seconds longer than their tokens open; if the clock went back further, even
-- ends may be gone, and so they may if keys were evicted: then all counts as lost. Neither time ever goes back: a
-- loss is permanent.
local function fence()
  local began = number(KEYS[1])
  local value = redis.call('GET', KEYS[2])
  local since, of, last
  if value then
    since, of, last = string.match(value, '^(%d+) (%S+) (%d+)$')
    if not since then
      refuse('broken', KEYS[2])
    end
    since, last = tonumber(since), tonumber(last)
  end
  local server, run, evicted = process()
  local lost = not began or (last and last > now + 300)
  if of and of ~= run then
    -- Another process has evicted none of its keys before it started.
    local before = string.sub(of, 1, #server) == server and string.match(of, '%.(%d+)$')
    lost = lost or evicted ~= (tonumber(before or 0))
  end
  if lost or not value or of ~= run or now < last then
    -- The clock of another process may be behind.
    since = math.max(since or 0, now, of ~= run and last or 0)
    last = -1
  end
  if lost then
    began = math.max(began or 0, now)
    redis.call('SET', KEYS[1], digits(began))
  end
  if now > last then
    redis.call('SET', KEYS[2], table.concat({ digits(since), run, digits(now) }, ' '))
  end
  return began, since
end

-- Returns whether a replica should confirm the writes (1), must (2), or need not (0). Ends should survive any
-- fail-over. Where the store itself was promoted, the server before it may come back.
local function confirms(ends)
  if not replication and not blind then
    process()
  end
  if blind then
    return '2'
  end
  local alone = not ends
    or string.find(replication, 'connected_slaves:0', 1, true)
      and not string.find(replication, 'master_replid2:0*[1-9a-f]')
  return alone and '0' or '1'
end

local function ok(ends)
  return { 'ok', confirms(ends) }
end

local function run(judge)
  local judged, reply = pcall(judge)
  if not judged then
    if type(reply) == 'table' and reply.reply then
      return reply.reply
    end
    return error(reply)
  end
  -- WAIT counts the writes of its connection: if an earlier try wrote everything, one value is written again.
  if blind and #writes == 0 then
    redis.call('SET', KEYS[1], redis.call('GET', KEYS[1]), 'KEEPTTL')
  end
  for _, one in ipairs(writes) do
    local key, value, till = unpack(one)
    if not value then
      redis.call('DEL', key)
    elseif till == 0 then
      redis.call('SET', key, value)
    else
      redis.call('SET', key, value, 'EXAT', digits(till))
    end
  end
  return reply
end

