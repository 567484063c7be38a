-- Takes the lease of the leading broker, keeps it, or gives it back.
-- KEYS  1 leader
-- ARGV  1 broker id  2 lease ms (0: give it back)
-- Returns {'NEW'} taken now | {'KEPT'} was ours | {'OTHER', id} | {'LEFT'}
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return { 'OTHER', holder } end
if ARGV[2] == '0' then
  redis.call('DEL', KEYS[1])
  return { 'LEFT' }
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return { holder and 'KEPT' or 'NEW' }
