-- LEDGER.md, "commit", has its keys and arguments.
if call('GET', KEYS[2]) then
  return { 'ended' }
end
local seen, generation, token, till, state = unpack(ARGV)
if till ~= '0' and tonumber(till) <= now then
  return { 'expired' }
end
local kept = call('GET', KEYS[1])
-- The admitted state is gone: the store has forgotten.
if not kept then
  return { 'lost' }
end
local current, at, before, text = match(kept, HEAD)
if not current then
  return { 'broken', KEYS[1] }
end
-- Otherwise, an earlier try has written this state.
if current ~= token then
  if current ~= seen then
    return tonumber(at) < tonumber(generation) and { 'lost' } or { 'stale', current, at, text }
  end
  -- A head lives until the latest end of all states it ever had.
  if before == '0' or till ~= '0' and tonumber(before) > tonumber(till) then
    till = before
  end
  local value = token .. ' ' .. generation + 1 .. ' ' .. till .. ' ' .. state
  writes, many = { KEYS[1], value, till }, 3
end
