-- Gives a worker the state of a job's step and where its fields lie; a put whose whole body is small comes along at once.
-- KEYS  1 mount  2 status
-- ARGV  1 incarnation  2 pipeline  3 attempt  4 stage  5 fields, csv  6 inline bytes  7 step TTL ms
-- Returns {'OK', rows, deadline, now, created, {{put id, hash, header, chunks, {body, …} or {}}, …}}
--       | {'GONE'} | {'FENCED', incarnation} | {'NOT_MOUNTED'} | {'SETTLED'} | {'STALE', attempt} | {'EXPIRED'} | {'INCOMPLETE'}
local status, stage = KEYS[2], ARGV[4]
local state, current = fence(KEYS[1], ARGV[1])
if state ~= 'OK' then return { state, current } end
local head = redis.call('HMGET', status, 'attempt', 'deadline', 'rows:' .. stage, 'settled:' .. ARGV[2], 'buried', 'created')
if not head[1] or head[5] then return { 'GONE' } end
if head[4] then return { 'SETTLED' } end
if head[1] ~= ARGV[3] then return { 'STALE', head[1] } end
local now = now_ms()
if now > tonumber(head[2]) then return { 'EXPIRED' } end
if not complete(status, stage .. '|' .. ARGV[5]) then return { 'INCOMPLETE' } end
local wanted = {}
for _, field in ipairs(split(ARGV[5])) do wanted[field] = true end
local prefix = string.sub(status, 1, #status - #'status')
local puts = {}
for _, id in ipairs(split(redis.call('HGET', status, 'puts:' .. stage))) do
  local suffix = stage .. ':' .. id
  local put = redis.call('HMGET', status, 'cols:' .. suffix, 'hash:' .. suffix, 'head:' .. suffix, 'size:' .. suffix)
  local needed = false
  for _, field in ipairs(split(put[1])) do needed = needed or wanted[field] end
  if needed then
    local chunks, bytes = string.match(put[4], '^(%d+),(%d+)$')
    local inline = {}
    if tonumber(bytes) <= tonumber(ARGV[6]) then
      for _, entry in ipairs(redis.call('XRANGE', prefix .. suffix .. '.' .. string.sub(put[2], 1, 16), '-', '+')) do
        inline[#inline + 1] = entry[2][2]
      end
    end
    puts[#puts + 1] = { id, put[2], put[3], tonumber(chunks), inline }
  end
end
refresh_step_ttl(status, ARGV[7])
return { 'OK', tonumber(head[3]), head[2], string.format('%.0f', now), head[6], puts }
