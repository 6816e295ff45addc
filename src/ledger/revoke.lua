-- KEYS: the principal's mark. ARGV: for how many seconds it is kept, 0 for ever.
return run(function()
  local mark = math.max(number(KEYS[1]) or 0, now)
  local lives = tonumber(ARGV[1])
  write(KEYS[1], digits(mark), lives == 0 and 0 or mark + lives)
  return ok(true)
end)
