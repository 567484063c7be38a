-- Gives a run its next incarnation and handle, and reports it; the same mount id always gets the same answer.
-- KEYS  1 mount  2 trainer  3 runs  4 notices
-- ARGV  1 encoded run  2 mount id  3 takeover 0|1  4 mount TTL ms  5 trainer TTL ms  6 run  7 report, msgpack (version, settings)
--       8… field, value pairs for the mount hash
-- Returns {'OK', incarnation} | {'SAME', incarnation} | {'BUSY', incarnation of the live trainer}
local known = redis.call('HMGET', KEYS[1], 'mount_id', 'inc')
if known[1] == ARGV[2] then return { 'SAME', known[2] } end
local alive = redis.call('GET', KEYS[2])
if alive and ARGV[3] == '0' then return { 'BUSY', alive } end
local now = now_ms()
-- Redis time, so that even a flushed server never hands one out twice.
local inc = string.format('%.0f', math.max((tonumber(known[2] or '0')) + 1, now))
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'inc', inc, 'mount_id', ARGV[2])
for i = 8, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('SET', KEYS[2], inc, 'PX', ARGV[5])
redis.call('ZADD', KEYS[3], now, ARGV[1])
notify(KEYS[4], 'mounted', ARGV[6], inc, 'header', ARGV[7])
return { 'OK', inc }
