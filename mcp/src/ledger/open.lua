-- KEYS: began, fence. The reply: ok, both in Unix seconds, the store's time.
return run(function()
  local began, since = fence()
  return { 'ok', digits(began), digits(since), digits(now), confirms(false) }
end)
