-- KEYS: the principal's hash. ARGV: the seconds to keep it, 0 for ever; the time by the clock of who asks.
local revoked = call('GET', KEYS[1])
if revoked and not find(revoked, NUMBER) then
  return { 'broken', KEYS[1] }
end
local asked = tonumber(ARGV[2])
if asked > now + 300 then
  return { 'ahead' }
end
revoked = math.max(tonumber(revoked) or 0, now, asked)
local till = ARGV[1] == '0' and '0' or string.format('%.0f', revoked + tonumber(ARGV[1]))
writes, many, ends = { KEYS[1], string.format('%.0f', revoked), till }, 3, true
