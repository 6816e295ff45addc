-- KEYS: the principal's mark. ARGV: the seconds to keep it, 0 for ever; the time by the clock of who asks.
local mark = call('GET', KEYS[1])
if mark and not find(mark, NUMBER) then
  return { 'broken', KEYS[1] }
end
local asked = tonumber(ARGV[2])
if asked > now + 300 then
  return { 'ahead' }
end
mark = math.max(tonumber(mark) or 0, now, asked)
local till = ARGV[1] == '0' and '0' or string.format('%.0f', mark + tonumber(ARGV[1]))
writes, many, ends = { KEYS[1], string.format('%.0f', mark), till }, 3, true
