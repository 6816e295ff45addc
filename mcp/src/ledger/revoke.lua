-- KEYS: the principal's mark. ARGV: the seconds to keep it, 0 for ever.
return run(function()
  local mark = math.max(number(KEYS[1]) or 0, now)
  local seconds = tonumber(ARGV[1])
  write(KEYS[1], digits(mark), seconds == 0 and 0 or mark + seconds)
  return ok(true)
end)
