-- Puts a mount back that Redis has forgotten (restarted without its data). The larger incarnation wins, so a fenced
-- trainer cannot come back this way.
-- KEYS  1 mount  2 trainer  3 runs
-- ARGV  1 encoded run  2 mount id  3 incarnation  4 mount TTL ms  5 trainer TTL ms  6… field, value pairs for the mount hash
-- Returns {'OK'} | {'FENCED', incarnation}
local current = redis.call('HGET', KEYS[1], 'inc')
if current and tonumber(current) > tonumber(ARGV[3]) then return { 'FENCED', current } end
if current == ARGV[3] then return { 'OK' } end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'inc', ARGV[3], 'mount_id', ARGV[2])
for i = 6, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[5])
redis.call('ZADD', KEYS[3], now_ms(), ARGV[1])
return { 'OK' }
