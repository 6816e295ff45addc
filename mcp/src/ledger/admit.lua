-- KEYS: began, fence, the principal's mark, and for each token the key of its mode and the key of
-- its end. ARGV: the attempt, the tolerance of clocks, from which time of issue on older tokens are
-- accepted, and for each token its mode, its time of issue, its start, its end, and three details of
-- its mode. The reply: a verdict, and the index of the token that it concerns.

-- 400 days, in seconds: nothing lives longer, so that no record of an end has to be kept for longer.
local CEILING = 34560000

return run(function()
  local began, since = fence()
  local mark = number(KEYS[3])
  local attempt, tolerance, accepted = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
  local ends = false

  for at = 0, (#KEYS - 3) / 2 - 1 do
    local key, ended = KEYS[4 + 2 * at], KEYS[5 + 2 * at]
    local mode, issued, started, till, x, y, z = unpack(ARGV, 4 + 7 * at, 10 + 7 * at)
    issued, started, till = tonumber(issued), tonumber(started), tonumber(till)
    if till ~= 0 and till <= now then
      refuse('expired', digits(at))
    end
    local by = mode ~= 'force' and redis.call('GET', ended)
    if mode ~= 'force' then
      if started + CEILING <= now then
        refuse('expired', digits(at))
      elseif by and not (mode == 'end' and by == attempt) then
        refuse('ended', digits(at))
      elseif mark and started <= mark + tolerance then
        refuse('revoked', digits(at))
      elseif issued > now + tolerance then
        refuse('ahead', digits(at))
      end
    end
    -- Before this time, the ledger may have forgotten what it is asked.
    local known = mode == 'once' and since or began
    local forgotten = issued <= known + tolerance
      and not (mode ~= 'once' and accepted ~= 0 and issued >= accepted)
    local value = (mode == 'once' or mode == 'unused') and redis.call('GET', key)
    local current = mode == 'head' and head(key)
    if value and not (mode == 'once' and value == attempt) then
      refuse('used', digits(at))
    elseif forgotten and mode ~= 'force' and not value and not current then
      -- Says for how long it has known, so that the log shows a ledger that has just begun.
      refuse('unknown', digits(at), digits(math.max(now - known, 0)))
    end

    if mode == 'once' then
      if not value then
        write(key, attempt, till)
      end
    elseif mode == 'head' then
      if current and current.token ~= x and tonumber(y) <= current.generation then
        refuse('stale', digits(at), current.token, digits(current.generation), current.state)
      elseif not current or current.token ~= x then
        put_head(key, x, tonumber(y), till, z, current)
      end
    elseif mode == 'idle' then
      local idle, kept = tonumber(x), number(key)
      if now > math.max(kept or issued, issued) + idle then
        refuse('ended', digits(at))
      end
      -- Written at intervals, not at every request.
      if not kept or now >= math.max(kept, issued) + math.ceil(idle / 10) then
        write(key, digits(now), now + idle + 1)
      end
    elseif mode == 'end' or mode == 'force' then
      ends = true
      write(ended, attempt, till)
      if key ~= ended then
        write(key, nil, 0)
      end
    elseif mode ~= 'unused' and mode ~= 'live' then
      refuse('unsupported')
    end
  end
  return ok(ends)
end)
