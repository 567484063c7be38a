-- The trainer is done with a step. Its keys are removed now, or when the last pipeline still at work settles. Releasing an unknown
-- step, or the same step twice, is no error.
-- KEYS  1 mount  2 status  3 steps  4 notices
-- ARGV  1 incarnation  2 run  3 step  4 tombstone TTL ms  5 report, msgpack (wait, composed weights; '' none)
-- Returns {'OK', 'BURIED'|'PENDING'|'UNKNOWN'} | {'FENCED', incarnation} | {'NOT_MOUNTED'}
local status, member = KEYS[2], ARGV[1] .. ':' .. ARGV[3]
local state, current = fence(KEYS[1], ARGV[1])
if state ~= 'OK' then return { state, current } end
local head = redis.call('HMGET', status, 'attempt', 'released', 'buried')
if head[3] then return { 'OK', 'BURIED' } end
write_when_full(status, ARGV[4])
if ARGV[5] ~= '' and not head[2] then
  notify(KEYS[4], 'released', ARGV[2], ARGV[1], 'step', ARGV[3], 'header', ARGV[5])
end
if not head[1] then
  redis.call('HSET', status, 'inc', ARGV[1], 'released', '1', 'buried', '1')
  redis.call('PEXPIRE', status, ARGV[4])
  redis.call('ZREM', KEYS[3], member)
  return { 'OK', 'UNKNOWN' }
end
redis.call('HSET', status, 'released', '1')
if nothing_pending(KEYS[1], status) then
  bury_step(status, KEYS[3], member, ARGV[4])
  return { 'OK', 'BURIED' }
end
return { 'OK', 'PENDING' }
