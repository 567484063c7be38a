-- Replaces a pipeline's state with that of a checkpoint.
-- KEYS  1 mount  2 state of the pipeline
-- ARGV  1 incarnation  2 state TTL ms  3… step key, entry pairs
-- Returns {'OK', steps} | {'FENCED', incarnation} | {'NOT_MOUNTED'}
local state, current = fence(KEYS[1], ARGV[1])
if state ~= 'OK' then return { state, current } end
redis.call('DEL', KEYS[2])
for i = 3, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return { 'OK', (#ARGV - 2) / 2 }
