-- KEYS: the session's head, the key of its end. ARGV: the admitted token and its generation; the
-- new token, its end, and its text.
return run(function()
  if redis.call('GET', KEYS[2]) then
    refuse('ended')
  end
  local seen, generation, token, till, state = unpack(ARGV)
  generation, till = tonumber(generation), tonumber(till)
  if till ~= 0 and till <= now then
    refuse('expired')
  end
  local current = head(KEYS[1])
  -- The admitted state is gone: the store has forgotten.
  if not current then
    refuse('lost')
  end
  -- An earlier try has written this state.
  if current.token == token then
    return ok(false)
  end
  if current.token == seen then
    put_head(KEYS[1], token, generation + 1, till, state, current)
  elseif current.generation < generation then
    refuse('lost')
  else
    refuse('stale', current.token, digits(current.generation), current.state)
  end
  return ok(false)
end)
