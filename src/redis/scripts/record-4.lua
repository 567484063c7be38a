-- Adds a notice to its run's history as a record, under the notice's id, so that a notice that is read again adds nothing. A run that is
-- gone gets no record: what was removed with the run must not come back.
-- KEYS  1 mount  2 history  3 history's rows  4 errors
-- ARGV  1 id  2 record, JSON  3 step ('' none)  4 rows, JSON ('' none)  5 '1' for a failure
--       6 7 8 entries that history, rows and errors keep  9 TTL ms
-- Returns {'OK'} | {'NOT_MOUNTED'}
if redis.call('EXISTS', KEYS[1]) == 0 then return { 'NOT_MOUNTED' } end
local function append(key, keep, ...)
  local answer = redis.pcall('XADD', key, 'MAXLEN', '~', keep, ARGV[1], ...)
  -- Redis refuses an id that is not above the newest one: this record exists already.
  if type(answer) == 'table' and answer.err and not string.find(answer.err, 'equal or smaller', 1, true) then error(answer.err) end
end
if ARGV[3] == '' then append(KEYS[2], ARGV[6], 'record', ARGV[2]) else append(KEYS[2], ARGV[6], 'step', ARGV[3], 'record', ARGV[2]) end
redis.call('PEXPIRE', KEYS[2], ARGV[9])
if ARGV[4] ~= '' then
  append(KEYS[3], ARGV[7], 'rows', ARGV[4])
  redis.call('PEXPIRE', KEYS[3], ARGV[9])
end
if ARGV[5] == '1' then append(KEYS[4], ARGV[8], 'record', ARGV[2]) end
return { 'OK' }
