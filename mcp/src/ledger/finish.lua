
for at = 1, many, 3 do
  local key, value, till = writes[at], writes[at + 1], writes[at + 2]
  if not value then
    call('DEL', key)
  elseif till == '0' then
    call('SET', key, value)
  else
    call('SET', key, value, 'EXAT', till)
  end
end

if not told then
  told, run = process()
end
local blind = run == '-'
-- A fail-over may go unnoticed, and a replica must confirm each command.
-- WAIT counts the writes of its connection: if an earlier try wrote everything, one value is written again.
if blind and many == 0 then
  call('SET', KEYS[1], call('GET', KEYS[1]), 'KEEPTTL')
end
-- Whether a replica should confirm the writes (1), must (2), or need not (0). Ends should survive any fail-over. Where the
-- store itself was promoted, the server before it may come back.
local alone = not ends
  or find(told, 'connected_slaves:0', 1, true) and not find(told, 'master_replid2:0*[1-9a-f]')
reply[#reply + 1] = blind and '2' or alone and '0' or '1'
return reply
