-- Puts a part of a pipeline's state back as a checkpoint has it; with the first part, what Redis had of it goes.
-- KEYS  1 mount  2 state of the pipeline
-- ARGV  1 incarnation  2 state TTL ms  3 first part 0|1  4… step key, entry pairs
-- Returns {'OK', steps of this part} | {'FENCED', incarnation} | {'NOT_MOUNTED'}
local state, current = fence(KEYS[1], ARGV[1])
if state ~= 'OK' then return { state, current } end
if ARGV[3] == '1' then redis.call('UNLINK', KEYS[2]) end
for i = 4, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
touch_state(KEYS[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return { 'OK', (#ARGV - 3) / 2 }
