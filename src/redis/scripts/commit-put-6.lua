-- Makes one uploaded put part of its step: checks it, marks its rows produced, announces it. Nothing is marked unless
-- every chunk is stored. Repeating a put changes nothing; a refused put's chunks are removed, unless they are the accepted put's.
-- The rows of `post_reward` and `post_advantage` are one table (`responses`), fixed by the first put of either; `pre_rollout` has its own
-- (`prompts`). A stage may hold a part of the table's rows, fixed by its first put.
-- A step's attempt rises, and every outcome so far becomes void, when a put is replaced, when a put is repeated with `replace` after a
-- failure, and when the client knows of a higher attempt (Redis has lost what it acknowledged).
-- KEYS  1 mount  2 status  3 puts  4 put stream  5 announce  6 steps
-- ARGV  1 incarnation  2 run  3 step  4 stage  5 put id  6 content hash  7 chunks  8 body bytes  9 header  10 rows of the table
--       11 digest of the row keys ('' none)  12 row keys, msgpack ('' none)  13 fields, csv  14 bitmap of the put's rows
--       15 replace 0|1  16 step TTL ms  17 wait ms (deadline of the step, from now on)
--       18 bitmap of the stage's rows ('' as the stage's first put said, or the whole table)  19 highest attempt that the client knows
-- Returns {'OK', attempt, 'NEW'|'DUPLICATE'|'REPLACED'} | {'NOT_MOUNTED'} | {'FENCED', incarnation} | {'RELEASED'}
--       | {'CHUNKS_MISSING', found} | {'ROWS_CONFLICT', 'total_rows'|'keys'|'no_keys'|'stage_rows'|'overlap', detail}
--       | {'PUT_CONFLICT', hash}
local status, stage, id, hash = KEYS[2], ARGV[4], ARGV[5], ARGV[6]
local rows_table = table_of(stage)
local state, current = fence(KEYS[1], ARGV[1])
local head = redis.call('HMGET', status, 'released', 'attempt', 'rows:' .. rows_table, 'digest:' .. rows_table, 'span:' .. stage)
local known = read_put(KEYS[3], stage, id)
local function refuse(...)
  -- The stream's name contains the content hash: a put with a wrong row table may name the accepted put's chunks.
  if not known or known.hash ~= hash then redis.call('UNLINK', KEYS[4]) end
  return { ... }
end
if state ~= 'OK' then return refuse(state, current) end
if head[1] then return refuse('RELEASED') end
local found = redis.call('XLEN', KEYS[4])
if found ~= tonumber(ARGV[7]) then
  -- All chunks are sent again: an entry could not be added in front of those that are there.
  redis.call('UNLINK', KEYS[4])
  return { 'CHUNKS_MISSING', found }
end
if head[3] and head[3] ~= ARGV[10] then return refuse('ROWS_CONFLICT', 'total_rows', head[3]) end
if head[3] and ARGV[11] ~= '' then
  if not head[4] then return refuse('ROWS_CONFLICT', 'no_keys') end
  if head[4] ~= ARGV[11] then return refuse('ROWS_CONFLICT', 'keys') end
end
local span = head[5] or (ARGV[18] ~= '' and ARGV[18]) or full_bitmap(tonumber(ARGV[10]))
if ARGV[18] ~= '' and ARGV[18] ~= span then return refuse('ROWS_CONFLICT', 'stage_rows') end
if union(span, ARGV[14]) ~= span then return refuse('ROWS_CONFLICT', 'stage_rows') end

local attempt, floor = tonumber(head[2] or '1'), tonumber(ARGV[19])
local same = known and known.hash == hash
local kind = 'NEW'
if known and ARGV[15] == '1' and (not same or has_failed(KEYS[1], status)) then kind = 'REPLACED'
elseif same then kind = 'DUPLICATE'
elseif known then return refuse('PUT_CONFLICT', known.hash) end

local fields, bits = split(ARGV[13]), {}
for _, field in ipairs(fields) do
  local old = redis.call('HGET', status, 'made:' .. stage .. ':' .. field)
  local all, met = ARGV[14], false
  if old then all, met = union(old, ARGV[14]) end
  if met and not known then return refuse('ROWS_CONFLICT', 'overlap', field) end
  bits[field] = all
end
if kind == 'DUPLICATE' and floor <= attempt then
  refresh_step_ttl(status, ARGV[16])
  redis.call('PEXPIRE', KEYS[4], ARGV[16])
  return { 'OK', attempt, kind }
end

redis.call('HINCRBY', status, 'bytes', tonumber(ARGV[8]) - (known and known.bytes or 0))
local now = now_ms()
if not head[2] then redis.call('HSET', status, 'inc', ARGV[1], 'attempt', 1, 'created', string.format('%.0f', now)) end
local raised = math.max(floor, kind == 'REPLACED' and attempt + 1 or attempt)
if raised > attempt then
  -- Earlier outcomes of this step no longer count.
  void_outcomes(KEYS[1], status)
  attempt = raised
  redis.call('HSET', status, 'attempt', attempt)
end
if known and not same then
  redis.call('UNLINK', step_prefix(status) .. put_stream(stage, id, known.hash))
end
-- A later stage may come long after the first (old log-probs of a large model): the wait counts from the newest put.
local deadline = string.format('%.0f', now + tonumber(ARGV[17]))
redis.call('HSET', status, 'deadline', deadline)
if not head[3] then
  redis.call('HSET', status, 'rows:' .. rows_table, ARGV[10])
  if ARGV[11] ~= '' then redis.call('HSET', status, 'digest:' .. rows_table, ARGV[11], 'keys:' .. rows_table, ARGV[12]) end
end
if not head[5] then
  redis.call('HSET', status, 'span:' .. stage, span, 'stages', (redis.call('HGET', status, 'stages') or '') .. stage .. ',')
end
write_put(KEYS[3], stage, id, { hash = hash, attempt = attempt, chunks = tonumber(ARGV[7]), bytes = tonumber(ARGV[8]), fields = ARGV[13] }, ARGV[9])
for _, field in ipairs(fields) do redis.call('HSET', status, 'made:' .. stage .. ':' .. field, bits[field]) end
fix_contents(KEYS[1], status, KEYS[3], stage)
redis.call('ZADD', KEYS[6], deadline, ARGV[1] .. ':' .. ARGV[3])
redis.call('PEXPIRE', KEYS[6], redis.call('PTTL', KEYS[1]))
-- A new attempt concerns the pipelines of every stage.
for _, announced in ipairs(raised > tonumber(head[2] or '1') and split(redis.call('HGET', status, 'stages')) or { stage }) do
  redis.call('XADD', KEYS[5], '*', 'run', ARGV[2], 'inc', ARGV[1], 'step', ARGV[3], 'stage', announced)
end
refresh_step_ttl(status, ARGV[16])
return { 'OK', attempt, kind }
