-- The one accepted outcome of a pipeline's step: the first wins, and only then becomes visible. An outcome of other puts than the step
-- now holds (`content`) is stale, whatever its attempt.
-- KEYS  1 mount  2 status  3 out  4 result stream (of this writer)  5 notices  6 steps  7 state of the pipeline
-- ARGV  1 incarnation  2 run  3 step  4 pipeline  5 attempt  6 'result'|'failure'  7 chunks (0: the body is inline)  8 header
--       9 body ('' when in chunks)  10 step TTL ms  11 result name below the step's prefix ('' when inline)  12 writer's token
--       13 the step's entry in the state ('' none)  14 steps that the state keeps  15 state TTL ms
--       16 content ('' for a failure of waiting, which concerns the attempt alone)  17 hashes of the puts it was computed from, csv
-- Returns {'OK'} | {'GONE'} | {'NOT_MOUNTED'} | {'FENCED', incarnation} | {'SETTLED'} | {'STALE', attempt} | {'CHUNKS_MISSING', found}
local status, pipeline = KEYS[2], ARGV[4]
local state, current = fence(KEYS[1], ARGV[1])
if state ~= 'OK' then return { state, current } end
local head = redis.call('HMGET', status, 'attempt', 'settled:' .. pipeline, 'released', 'buried', 'created', 'content:' .. pipeline)
if not head[1] or head[4] then return { 'GONE' } end
-- The same writer again: its answer was lost and the command sent twice.
local mine = ARGV[6] .. ':' .. ARGV[12]
if head[2] == mine then return { 'OK' } end
if head[2] then return { 'SETTLED' } end
if head[1] ~= ARGV[5] or (ARGV[16] ~= '' and head[6] ~= ARGV[16]) then return { 'STALE', head[1] } end
local chunks = tonumber(ARGV[7])
if chunks > 0 then
  local found = redis.call('XLEN', KEYS[4])
  if found ~= chunks then return { 'CHUNKS_MISSING', found } end
end
write_when_full(status, ARGV[10])
if chunks > 0 then redis.call('HSET', status, 'results', (redis.call('HGET', status, 'results') or '') .. ARGV[11] .. ',') end
redis.call('HSET', status, 'settled:' .. pipeline, mine)
redis.call('XADD', KEYS[3], '*', 'pipeline', pipeline, 'attempt', ARGV[5], 'header', ARGV[8], 'body', ARGV[9], 'result', ARGV[11], 'chunks', ARGV[7],
  'puts', ARGV[17])
local ms = string.format('%.0f', now_ms() - tonumber(head[5]))
notify(KEYS[5], 'settled', ARGV[2], ARGV[1], 'step', ARGV[3], 'pipeline', pipeline, 'header', ARGV[8], 'ms', ms)
if ARGV[13] ~= '' or redis.call('EXISTS', KEYS[7]) == 1 then
  remember_step(KEYS[7], ARGV[1], ARGV[3], ARGV[13], tonumber(ARGV[14]), ARGV[15])
end
refresh_step_ttl(status, ARGV[10])
if head[3] and nothing_pending(KEYS[1], status) then bury_step(status, KEYS[6], ARGV[1] .. ':' .. ARGV[3], ARGV[10]) end
return { 'OK' }
