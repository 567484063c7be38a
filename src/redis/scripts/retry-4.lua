-- Opens a new attempt of a step whose pipeline has failed, of the puts as they are: every outcome so far is void, and its jobs are made again.
-- KEYS  1 mount  2 status  3 announce  4 steps
-- ARGV  1 incarnation  2 run  3 step  4 pipeline  5 step TTL ms  6 wait ms (deadline of the step, from now on)
-- Returns {'OK', attempt} | {'GONE'} | {'NOT_MOUNTED'} | {'FENCED', incarnation} | {'NOT_FAILED'}
local status = KEYS[2]
local state, current = fence(KEYS[1], ARGV[1])
if state ~= 'OK' then return { state, current } end
local head = redis.call('HMGET', status, 'attempt', 'released', 'settled:' .. ARGV[4])
if not head[1] or head[2] then return { 'GONE' } end
if not head[3] or string.sub(head[3], 1, 8) ~= 'failure:' then return { 'NOT_FAILED' } end
void_outcomes(KEYS[1], status)
local attempt = redis.call('HINCRBY', status, 'attempt', 1)
local deadline = string.format('%.0f', now_ms() + tonumber(ARGV[6]))
redis.call('HSET', status, 'deadline', deadline)
redis.call('ZADD', KEYS[4], deadline, ARGV[1] .. ':' .. ARGV[3])
redis.call('PEXPIRE', KEYS[4], redis.call('PTTL', KEYS[1]))
for _, stage in ipairs(split(redis.call('HGET', status, 'stages'))) do
  redis.call('XADD', KEYS[3], '*', 'run', ARGV[2], 'inc', ARGV[1], 'step', ARGV[3], 'stage', stage)
end
refresh_step_ttl(status, ARGV[5])
return { 'OK', attempt }
