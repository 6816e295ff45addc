-- LEDGER.md, "admit", has its keys, its arguments and its reply.

-- 400 days, in seconds: nothing lives longer, so that no record of an end has to be kept for longer.
local CEILING = 34560000

local revoked = call('GET', KEYS[3])
if revoked and not find(revoked, NUMBER) then
  return { 'broken', KEYS[3] }
end
revoked = tonumber(revoked)
local attempt, tolerance, accepted = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

for at = 0, (#KEYS - 3) / 2 - 1 do
  local key, ended = KEYS[4 + 2 * at], KEYS[5 + 2 * at]
  local mode, issued, started, till, x, y, z = unpack(ARGV, 4 + 7 * at, 10 + 7 * at)
  issued, started = tonumber(issued), tonumber(started)
  if till ~= '0' and tonumber(till) <= latest then
    return { 'expired', tostring(at) }
  end
  if mode ~= 'force' then
    local by = call('GET', ended)
    if started + CEILING <= now then
      return { 'expired', tostring(at) }
    elseif by and not (mode == 'end' and by == attempt) then
      return { 'ended', tostring(at) }
    elseif revoked and started <= revoked + tolerance then
      return { 'revoked', tostring(at) }
    elseif issued > now + tolerance then
      return { 'ahead', tostring(at) }
    end
  end
  -- Before this time, the ledger may have forgotten what it is asked. What was renewed since may have ended or been revoked before.
  local known = mode == 'once' and since or began
  local forgotten = (mode == 'once' and issued or started) <= known + tolerance
    and not (mode ~= 'once' and accepted ~= 0 and issued >= accepted)
  local value = (mode == 'once' or mode == 'unused') and call('GET', key)
  local token, generation, before, state
  if mode == 'head' then
    local kept = call('GET', key)
    token, generation, before, state = match(kept or '', HEAD)
    if kept and not token then
      return { 'broken', key }
    end
  end
  if value and not (mode == 'once' and value == attempt) then
    return { 'used', tostring(at) }
  elseif forgotten and mode ~= 'force' and not value then
    -- Says for how long it has known, so that the log shows a ledger that has just begun.
    return { 'unknown', tostring(at), string.format('%.0f', math.max(now - known, 0)) }
  end

  if mode == 'once' then
    if not value then
      writes[many + 1], writes[many + 2], writes[many + 3] = key, attempt, till
      many = many + 3
    end
  elseif mode == 'head' then
    if token and token ~= x and tonumber(y) <= tonumber(generation) then
      return { 'stale', tostring(at), token, generation, state }
    elseif token ~= x then
      -- A head lives until the latest end of all states it ever had.
      if token and (before == '0' or till ~= '0' and tonumber(before) > tonumber(till)) then
        till = before
      end
      writes[many + 1], writes[many + 2], writes[many + 3] = key, table.concat({ x, y, till, z }, ' '), till
      many = many + 3
    end
  elseif mode == 'idle' then
    local idle, seen = tonumber(x), call('GET', key)
    if seen and not find(seen, NUMBER) then
      return { 'broken', key }
    end
    seen = tonumber(seen)
    if now > math.max(seen or issued, issued) + idle then
      return { 'ended', tostring(at) }
    end
    -- Written at intervals, not at every request.
    if not seen or now >= math.max(seen, issued) + math.ceil(idle / 10) then
      writes[many + 1], writes[many + 2], writes[many + 3] = key, clock, string.format('%.0f', now + idle + 1)
      many = many + 3
    end
  elseif mode == 'end' or mode == 'force' then
    ends = true
    writes[many + 1], writes[many + 2], writes[many + 3] = ended, attempt, till
    many = many + 3
    if key ~= ended then
      writes[many + 1], writes[many + 2], writes[many + 3] = key, false, '0'
      many = many + 3
    end
  elseif mode ~= 'unused' and mode ~= 'live' then
    return { 'unsupported' }
  end
end
