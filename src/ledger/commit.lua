-- KEYS: the session's head, that it ended.
-- ARGV: the token that was admitted and its generation; the token that takes its place, until when it
-- lives, and its text.
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
  -- What was admitted is not here any more: the store has forgotten.
  if not current then
    refuse('lost')
  end
  -- A try before this one did it.
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
