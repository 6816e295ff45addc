-- The start of the ledger's memory, and the fence (LEDGER.md).
local began, fence = call('GET', KEYS[1]), call('GET', KEYS[2])
if began and not find(began, NUMBER) then
  return { 'broken', KEYS[1] }
end
began = tonumber(began)

-- A master's `master_replid` is its own: drawn anew when its process starts, and at each promotion. So where the fence has it, as
-- many evictions and this very second, nothing changed. The section of INFO with `run_id` costs as much as the rest.
-- LAST is the latest time of the store's clock, by which it deleted records.
local since, latest = nil, now
told = redis.pcall('INFO', 'stats', 'replication')
local evictions = began and fence and type(told) == 'string' and find(told, '\nevicted_keys:', 1, true)
local master = evictions and find(told, '\nrole:master\r', evictions, true)
local id = master and find(told, '\nmaster_replid:', master, true)
if id then
  local known, from = match(fence, '^(%d+) %w+()%.')
  local same = '.' .. match(told, '^%w*', id + 15) .. '.' .. match(told, '^%d*', evictions + 14) .. ' ' .. clock
  since = known and string.sub(fence, from) == same and tonumber(known)
end

if not since then
  local of, last
  if fence then
    since, of, last = match(fence, '^(%d+) (%S+) (%d+)$')
    if not since then
      return { 'broken', KEYS[2] }
    end
    since, last = tonumber(since), tonumber(last)
  end
  local server, evicted
  told, run, server, evicted = process()
  -- Both are written at once: where one is missing, others may be.
  local lost = not began or not fence or last > now + 300
  if of and of ~= run then
    -- Another process has evicted none of its keys before it started.
    local before = string.sub(of, 1, #server) == server and match(of, '%.(%d+)$')
    lost = lost or evicted ~= (tonumber(before or 0))
  end
  latest = lost and now or math.max(now, last)
  if lost or of ~= run then
    -- The clock of another process may be behind.
    since = math.max(since or 0, now, of ~= run and last or 0)
    last = -1
  end
  if lost then
    began = math.max(began or 0, now)
    call('SET', KEYS[1], string.format('%.0f', began))
  end
  if now > last then
    call('SET', KEYS[2], string.format('%.0f %s %.0f', since, run, latest))
  end
end
