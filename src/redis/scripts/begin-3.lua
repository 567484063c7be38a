-- Gives a worker the state of a job's step and says where its fields are; a put whose whole body is small is returned at once.
-- KEYS  1 mount  2 status  3 puts
-- ARGV  1 incarnation  2 pipeline  3 attempt  4 content  5 stage  6 fields, csv  7 inline bytes  8 step TTL ms
--       9 worker id
-- Returns {'OK', rows of the table, bitmap of the stage's rows, deadline, now, created,
--          {{put id, hash, header, chunks, {body, …} or {}}, …}, {worker that began this attempt and has not let go, …}}
--       | {'GONE'} | {'FENCED', incarnation} | {'NOT_MOUNTED'} | {'SETTLED'} | {'STALE', attempt} | {'EXPIRED'}
local status, stage = KEYS[2], ARGV[5]
local state, current = fence(KEYS[1], ARGV[1])
if state ~= 'OK' then return { state, current } end
local head = redis.call('HMGET', status, 'attempt', 'deadline', 'rows:' .. table_of(stage), 'span:' .. stage, 'settled:' .. ARGV[2],
  'buried', 'created', 'content:' .. ARGV[2])
if not head[1] or head[6] then return { 'GONE' } end
if head[5] then return { 'SETTLED' } end
if head[1] ~= ARGV[3] or head[8] ~= ARGV[4] then return { 'STALE', head[1] } end
local now = now_ms()
if now > tonumber(head[2]) then return { 'EXPIRED' } end
local puts = {}
for _, put in ipairs(puts_of(KEYS[3], stage, ARGV[6])) do
  local stream, inline = step_prefix(status) .. put_stream(stage, put.id, put.hash), {}
  if put.bytes <= tonumber(ARGV[7]) then
    for _, entry in ipairs(redis.call('XRANGE', stream, '-', '+')) do inline[#inline + 1] = entry[2][2] end
  end
  puts[#puts + 1] = { put.id, put.hash, read_put_header(KEYS[3], stage, put.id), put.chunks, inline }
end
refresh_step_ttl(status, ARGV[8])
local holders = hold(status, ARGV[2], ARGV[3], ARGV[9])
return { 'OK', tonumber(head[3]), head[4], head[2], string.format('%.0f', now), head[7], puts, holders }
