-- KEYS: began, fence. The reply: ok, both in Unix seconds, the store's time.
reply = { 'ok', string.format('%.0f', began), string.format('%.0f', since), clock }
