-- KEYS: began, fence, the principal's mark, and for each token the key of its mode and the key of
-- its end. ARGV: the attempt, the allowance, adopt, and for each token its mode, its time of issue,
-- its start, its end, and three details of its mode. The reply: a verdict, and the index of the
-- token that it concerns.

-- 400 days, in seconds: nothing lives longer, so that no record of an end has to be kept for longer.
local CEILING = 34560000

return run(function()
  local began, since = fence()
  local mark = number(KEYS[3])
  local attempt, allowance, adopt = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
  local ends = false

  for at = 0, (#KEYS - 3) / 2 - 1 do
    local key, ended = KEYS[4 + 2 * at], KEYS[5 + 2 * at]
    local mode, issued, started, till, x, y, z = unpack(ARGV, 4 + 7 * at, 10 + 7 * at)
    issued, started, till = tonumber(issued), tonumber(started), tonumber(till)
    local place = digits(at)

    local function finish()
      ends = true
      write(ended, attempt, till)
      if key ~= ended then
        write(key, nil, 0)
      end
    end

    local function judge()
      local by = redis.call('GET', ended)
      if by and not (mode == 'end' and by == attempt) then
        refuse('ended', place)
      end
      if mark and started <= mark + allowance then
        refuse('revoked', place)
      end
      if issued > now + allowance then
        refuse('ahead', place)
      end
      -- Says for how long the ledger has known, so that the log shows a ledger that has just begun.
      local function unknown(known)
        refuse('unknown', place, digits(math.max(now - known, 0)))
      end
      local forgotten = issued <= began + allowance and not (adopt ~= 0 and issued >= adopt)
      if mode == 'once' then
        local user = redis.call('GET', key)
        if user and user ~= attempt then
          refuse('used', place)
        elseif not user then
          if issued <= since + allowance then
            unknown(since)
          end
          write(key, attempt, till)
        end
        return
      end
      if mode == 'head' then
        local current = head(key)
        if not current and forgotten then
          unknown(began)
        end
        if current and current.token == x then
          return
        end
        if current and tonumber(y) <= current.generation then
          refuse('stale', place, current.token, digits(current.generation), current.state)
        end
        put_head(key, x, tonumber(y), till, z, current)
        return
      end
      if mode == 'unused' and redis.call('GET', key) then
        refuse('used', place)
      end
      if forgotten then
        unknown(began)
      end
      if mode == 'end' then
        finish()
      elseif mode == 'idle' then
        local idle, kept = tonumber(x), number(key)
        local seen = math.max(kept or issued, issued)
        if now > seen + idle then
          refuse('ended', place)
        end
        -- Written at intervals, not at every request.
        if not kept or now >= seen + math.ceil(idle / 10) then
          write(key, digits(now), now + idle + 1)
        end
      elseif mode ~= 'unused' and mode ~= 'live' then
        refuse('unsupported')
      end
    end

    if till ~= 0 and till <= now then
      refuse('expired', place)
    end
    if mode == 'force' then
      finish()
    elseif started + CEILING <= now then
      refuse('expired', place)
    else
      judge()
    end
  end
  return ok(ends)
end)
