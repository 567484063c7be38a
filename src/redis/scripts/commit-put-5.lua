-- Makes one uploaded put part of its step: checks it, marks its rows produced, announces it. Nothing is marked unless
-- every chunk is stored. The same put again changes nothing; a refused put's chunks go, unless they are the accepted put's.
-- KEYS  1 mount  2 status  3 put stream  4 announce  5 steps
-- ARGV  1 incarnation  2 run  3 step  4 stage  5 put id  6 content hash  7 chunks  8 body bytes  9 header  10 total rows
--       11 digest of the row keys ('' none)  12 row keys, msgpack ('' none)  13 fields, csv  14 bitmap of the rows
--       15 replace 0|1  16 step TTL ms  17 wait ms (deadline of the step, from now on)
-- Returns {'OK', attempt, 'NEW'|'DUPLICATE'|'REPLACED'} | {'NOT_MOUNTED'} | {'FENCED', incarnation} | {'RELEASED'}
--       | {'CHUNKS_MISSING', found} | {'ROWS_CONFLICT', 'total_rows'|'keys'|'no_keys'|'overlap', detail} | {'PUT_CONFLICT', hash}
local status, stage, id, hash = KEYS[2], ARGV[4], ARGV[5], ARGV[6]
local state, current = fence(KEYS[1], ARGV[1])
local head = redis.call('HMGET', status, 'released', 'attempt', 'rows:' .. stage, 'digest:' .. stage, 'hash:' .. stage .. ':' .. id)
local function refuse(...)
  -- The stream's name holds the content hash: a put with a wrong row table may name the very chunks that count.
  if head[5] ~= hash then redis.call('UNLINK', KEYS[3]) end
  return { ... }
end
if state ~= 'OK' then return refuse(state, current) end
if head[1] then return refuse('RELEASED') end
local found = redis.call('XLEN', KEYS[3])
if found ~= tonumber(ARGV[7]) then
  -- All of them come again: an entry in front of those that are there could not be added any more.
  redis.call('UNLINK', KEYS[3])
  return { 'CHUNKS_MISSING', found }
end
local attempt = tonumber(head[2] or '1')
if head[3] and head[3] ~= ARGV[10] then return refuse('ROWS_CONFLICT', 'total_rows', head[3]) end
if head[3] and ARGV[11] ~= '' then
  if not head[4] then return refuse('ROWS_CONFLICT', 'no_keys') end
  if head[4] ~= ARGV[11] then return refuse('ROWS_CONFLICT', 'keys') end
end
local known, kind = head[5], 'NEW'
if known == hash then
  refresh_step_ttl(status, ARGV[16])
  return { 'OK', attempt, 'DUPLICATE' }
end
if known then
  if ARGV[15] == '0' then return refuse('PUT_CONFLICT', known) end
  kind = 'REPLACED'
end

local fields, bits = split(ARGV[13]), {}
for _, field in ipairs(fields) do
  local old = redis.call('HGET', status, 'made:' .. stage .. ':' .. field)
  local all, met = ARGV[14], false
  if old then all, met = union(old, ARGV[14]) end
  if met and not known then return refuse('ROWS_CONFLICT', 'overlap', field) end
  bits[field] = all
end

local now = now_ms()
local deadline = string.format('%.0f', now + tonumber(ARGV[17]))
if kind == 'REPLACED' then
  -- Another attempt: no earlier outcome of this step counts any more.
  local prefix = string.sub(status, 1, #status - #'status')
  redis.call('UNLINK', prefix .. stage .. ':' .. id .. '.' .. string.sub(known, 1, 16), prefix .. 'out')
  for _, result in ipairs(split(redis.call('HGET', status, 'results'))) do redis.call('UNLINK', prefix .. result) end
  for _, pipeline in ipairs(split(redis.call('HGET', KEYS[1], 'pipelines'))) do redis.call('HDEL', status, 'settled:' .. pipeline) end
  redis.call('HDEL', status, 'results')
  attempt = attempt + 1
  redis.call('HSET', status, 'attempt', attempt, 'deadline', deadline)
else
  if not head[2] then redis.call('HSET', status, 'inc', ARGV[1], 'attempt', 1, 'created', string.format('%.0f', now)) end
  -- A later stage may come long after the first (old log-probs of a large model): the wait counts from the newest put.
  redis.call('HSET', status, 'deadline', deadline)
end
if not head[3] then
  redis.call('HSET', status, 'rows:' .. stage, ARGV[10])
  redis.call('HSET', status, 'stages', (redis.call('HGET', status, 'stages') or '') .. stage .. ',')
  if ARGV[11] ~= '' then redis.call('HSET', status, 'digest:' .. stage, ARGV[11], 'keys:' .. stage, ARGV[12]) end
end
if not known then
  redis.call('HSET', status, 'puts:' .. stage, (redis.call('HGET', status, 'puts:' .. stage) or '') .. id .. ',')
end
local suffix = stage .. ':' .. id
redis.call('HSET', status, 'hash:' .. suffix, hash, 'head:' .. suffix, ARGV[9], 'size:' .. suffix, ARGV[7] .. ',' .. ARGV[8], 'cols:' .. suffix, ARGV[13])
for _, field in ipairs(fields) do redis.call('HSET', status, 'made:' .. stage .. ':' .. field, bits[field]) end
redis.call('ZADD', KEYS[5], redis.call('HGET', status, 'deadline'), ARGV[1] .. ':' .. ARGV[3])
redis.call('PEXPIRE', KEYS[5], redis.call('PTTL', KEYS[1]))
-- A new attempt concerns the pipelines of every stage.
for _, concerned in ipairs(kind == 'REPLACED' and split(redis.call('HGET', status, 'stages')) or { stage }) do
  redis.call('XADD', KEYS[4], '*', 'run', ARGV[2], 'inc', ARGV[1], 'step', ARGV[3], 'stage', concerned)
end
refresh_step_ttl(status, ARGV[16])
return { 'OK', attempt, kind }
