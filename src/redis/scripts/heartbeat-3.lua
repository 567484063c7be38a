-- The trainer is alive: keeps its mount and its pipelines' states, and keeps the run busy for others. A fenced trainer keeps nothing alive.
-- KEYS  1 mount  2 trainer  3 steps
-- ARGV  1 incarnation  2 mount TTL ms  3 trainer TTL ms  4 leave 0|1 (1: the trainer signs off)
--       5 state TTL ms
-- Returns {'OK'} | {'FENCED', incarnation} | {'NOT_MOUNTED'}
local state, current = fence(KEYS[1], ARGV[1])
if state ~= 'OK' then return { state, current } end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('PEXPIRE', KEYS[3], ARGV[2])
local run = string.sub(KEYS[1], 1, #KEYS[1] - #'mount')
for _, pipeline in ipairs(split(redis.call('HGET', KEYS[1], 'pipelines'))) do
  redis.call('PEXPIRE', run .. 'mix:' .. pipeline, ARGV[5])
end
if ARGV[4] == '1' then
  redis.call('DEL', KEYS[2])
else
  redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[3])
end
return { 'OK' }
