-- Shared by every script of this folder; the loader prepends it to each.

local function now_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

local function split(csv)
  local out = {}
  for item in string.gmatch(csv or '', '[^,]+') do out[#out + 1] = item end
  return out
end

-- Reports an event of a run to the broker that keeps its history. About this many notices are kept.
local NOTICE_ENTRIES = 10000
local function notify(notices, kind, run, inc, ...)
  redis.call('XADD', notices, 'MAXLEN', '~', NOTICE_ENTRIES, '*', 'kind', kind, 'run', run, 'inc', inc, ...)
end

-- Bitmaps are strings: row r is bit (0x80 >> (r % 8)) of byte r / 8. All ones for `rows` rows:
local function full_bitmap(rows)
  local whole = math.floor(rows / 8)
  local rest = rows - whole * 8
  local bits = string.rep('\255', whole)
  if rest > 0 then bits = bits .. string.char(bit.band(bit.lshift(0xff, 8 - rest), 0xff)) end
  return bits
end

-- The union of two bitmaps of equal length, and whether they overlap. Only the rows of `b`, often a few, are visited.
local function union(a, b)
  local first = string.find(b, '[^%z]')
  if not first then return a, false end
  local last = #b
  while string.byte(b, last) == 0 do last = last - 1 end
  local out, met = {}, false
  for i = first, last do
    local x, y = string.byte(a, i), string.byte(b, i)
    if bit.band(x, y) ~= 0 then met = true end
    out[#out + 1] = string.char(bit.bor(x, y))
  end
  return string.sub(a, 1, first - 1) .. table.concat(out) .. string.sub(a, last + 1), met
end

-- The rows of both later stages are one table; prompts have their own.
local function table_of(stage)
  return stage == 'pre_rollout' and 'prompts' or 'responses'
end

local function step_prefix(status)
  return string.sub(status, 1, #status - #'status')
end

-- A put's stream, below its step's prefix.
local function put_stream(stage, id, hash)
  return stage .. ':' .. id .. '.' .. string.sub(hash, 1, 16)
end

-- The `puts` hash holds of each put `<stage>:<id>` = '<hash>,<attempt>,<chunks>,<bytes>|<fields, csv>', and `header:<stage>:<id>`.
local function parse_put(id, value)
  if not value then return nil end
  local hash, attempt, chunks, bytes, fields = string.match(value, '^(%x+),(%d+),(%d+),(%d+)|(.*)$')
  return { id = id, hash = hash, attempt = tonumber(attempt), chunks = tonumber(chunks), bytes = tonumber(bytes), fields = fields }
end

local function read_put(puts, stage, id)
  return parse_put(id, redis.call('HGET', puts, stage .. ':' .. id))
end

local function read_put_header(puts, stage, id)
  return redis.call('HGET', puts, 'header:' .. stage .. ':' .. id)
end

local function write_put(puts, stage, id, put, header)
  local value = string.format('%s,%d,%d,%d|%s', put.hash, put.attempt, put.chunks, put.bytes, put.fields)
  redis.call('HSET', puts, stage .. ':' .. id, value, 'header:' .. stage .. ':' .. id, header)
end

-- The stage's puts in the order of their ids; with `fields` only those that contain one of them.
local function puts_of(puts, stage, fields)
  local names = {}
  for _, name in ipairs(redis.call('HKEYS', puts)) do
    if string.sub(name, 1, #stage + 1) == stage .. ':' then names[#names + 1] = name end
  end
  table.sort(names)
  local wanted, found = {}, {}
  for _, field in ipairs(split(fields)) do wanted[field] = true end
  for _, name in ipairs(names) do
    local put = parse_put(string.sub(name, #stage + 2), redis.call('HGET', puts, name))
    local needed = fields == nil
    for _, field in ipairs(split(put.fields)) do needed = needed or wanted[field] end
    if needed then found[#found + 1] = put end
  end
  return found
end

-- A pipeline is complete when every field it needs has every row of its stage. `need` is "stage|field,field".
local function complete(status, need)
  local stage, fields = string.match(need, '^([^|]+)|(.*)$')
  local span = redis.call('HGET', status, 'span:' .. stage)
  if not span then return false end
  for _, field in ipairs(split(fields)) do
    if redis.call('HGET', status, 'made:' .. stage .. ':' .. field) ~= span then return false end
  end
  return true
end

-- What a pipeline is computed from: its stage's rows and the puts that contain its fields.
local function content_of(status, puts, need)
  local stage, fields = string.match(need, '^([^|]+)|(.*)$')
  local rows = table_of(stage)
  local head = redis.call('HMGET', status, 'rows:' .. rows, 'digest:' .. rows, 'span:' .. stage)
  local parts = { head[1], head[2] or '', redis.sha1hex(head[3]) }
  for _, put in ipairs(puts_of(puts, stage, fields)) do parts[#parts + 1] = put.id .. ':' .. put.hash end
  return redis.sha1hex(table.concat(parts, ' '))
end

-- `content:<pipeline>` exists once the pipeline is complete, and always matches the current puts.
local function fix_contents(mount, status, puts, stage)
  for _, pipeline in ipairs(split(redis.call('HGET', mount, 'pipelines'))) do
    local need = redis.call('HGET', mount, 'need:' .. pipeline)
    if need and string.match(need, '^[^|]+') == stage and complete(status, need) then
      redis.call('HSET', status, 'content:' .. pipeline, content_of(status, puts, need))
    end
  end
end

-- `settled:<pipeline>` is 'result:<token>' or 'failure:<token>'.
local function has_failed(mount, status)
  for _, pipeline in ipairs(split(redis.call('HGET', mount, 'pipelines'))) do
    local settled = redis.call('HGET', status, 'settled:' .. pipeline)
    if settled and string.sub(settled, 1, 8) == 'failure:' then return true end
  end
  return false
end

-- Streams of results, below the step's prefix, as names of keys.
local function result_keys(status)
  local keys = {}
  for _, result in ipairs(split(redis.call('HGET', status, 'results'))) do keys[#keys + 1] = step_prefix(status) .. result end
  return keys
end

local function void_outcomes(mount, status)
  redis.call('UNLINK', step_prefix(status) .. 'out')
  for _, key in ipairs(result_keys(status)) do redis.call('UNLINK', key) end
  for _, pipeline in ipairs(split(redis.call('HGET', mount, 'pipelines'))) do redis.call('HDEL', status, 'settled:' .. pipeline) end
  redis.call('HDEL', status, 'results')
end

-- Streams of puts keep the TTL that they were written with, so that many small puts cost a constant each; the worker that begins and the
-- producer's heartbeat renew it.
local function refresh_step_ttl(status, ttl)
  local prefix = step_prefix(status)
  for _, key in ipairs({ status, prefix .. 'puts', prefix .. 'out' }) do redis.call('PEXPIRE', key, ttl) end
  for _, key in ipairs(result_keys(status)) do redis.call('PEXPIRE', key, ttl) end
end

-- A full Redis refuses a script whose first write takes memory, and accepts every write after one that takes none. This is such a write:
-- when Redis is full, outcomes must still get through, and steps be released. (No shebang flags: they need Redis 7.)
local function write_when_full(status, ttl)
  redis.call('PEXPIRE', status, ttl)
end

-- A worker takes a pipeline's job: `held:<pipeline>:<worker>` holds the attempt until it lets go (HDEL) or the step goes. Answers who else
-- has begun this attempt and not let go.
local function hold(status, pipeline, attempt, worker)
  local prefix, others = 'held:' .. pipeline .. ':', {}
  for _, field in ipairs(redis.call('HKEYS', status)) do
    local holder = string.sub(field, 1, #prefix) == prefix and string.sub(field, #prefix + 1)
    if holder and holder ~= worker then
      if redis.call('HGET', status, field) == attempt then others[#others + 1] = holder else redis.call('HDEL', status, field) end
    end
  end
  redis.call('HSET', status, prefix .. worker, attempt)
  return others
end

-- After a release: true if no complete pipeline, shadows included, is still unsettled.
local function nothing_pending(mount, status)
  for _, pipeline in ipairs(split(redis.call('HGET', mount, 'pipelines'))) do
    local head = redis.call('HMGET', status, 'content:' .. pipeline, 'settled:' .. pipeline)
    if head[1] and not head[2] then return false end
  end
  return true
end

-- Unlinks a released step; the tombstone that stays keeps latecomers out.
local function bury_step(status, steps, member, ttl)
  local prefix = step_prefix(status)
  for _, stage in ipairs(split(redis.call('HGET', status, 'stages'))) do
    for _, put in ipairs(puts_of(prefix .. 'puts', stage)) do redis.call('UNLINK', prefix .. put_stream(stage, put.id, put.hash)) end
  end
  for _, key in ipairs(result_keys(status)) do redis.call('UNLINK', key) end
  redis.call('UNLINK', prefix .. 'puts', prefix .. 'out')
  local inc = redis.call('HGET', status, 'inc')
  redis.call('DEL', status)
  redis.call('HSET', status, 'inc', inc, 'released', '1', 'buried', '1')
  redis.call('PEXPIRE', status, ttl)
  redis.call('ZREM', steps, member)
end

-- 'OK', or why this incarnation may not touch the run. A larger incarnation than the mount's always wins: the mount that is there was
-- restored by an earlier trainer after Redis had lost both, so the later one is asked to restore its own.
local function fence(mount, inc)
  local current = redis.call('HGET', mount, 'inc')
  if not current or tonumber(current) < tonumber(inc) then return 'NOT_MOUNTED' end
  if current ~= inc then return 'FENCED', current end
  return 'OK'
end

-- Step keys are '<global_steps>.<trigger>'.
local function step_before(a, b)
  local as, at = string.match(a, '^(%d+)%.(%d+)$')
  local bs, bt = string.match(b, '^(%d+)%.(%d+)$')
  if as ~= bs then return tonumber(as) < tonumber(bs) end
  return tonumber(at) < tonumber(bt)
end

-- Marks that a state's entries changed otherwise than by new steps: whoever has read them reads them again. Never the same twice, also
-- after Redis has lost the key.
local function touch_state(key)
  local t = redis.call('TIME')
  redis.call('HSET', key, 'rev', t[1] .. '.' .. t[2])
end

-- One step's part of a pipeline's state, or its absence: `entry` replaces whatever the step said before. `head` says which
-- incarnation wrote last, and its earliest step: an incarnation that begins, or goes further back, repeats those steps, so the entries
-- of that step and later ones, which are others', are removed. Beyond `keep` steps (plus an eighth, to sort seldom) the oldest are forgotten.
-- No entry is read here: a state may hold a hundred megabytes.
local function remember_step(key, inc, step, entry, keep, ttl)
  local head_inc, head_step = string.match(redis.call('HGET', key, 'head') or '', '^(%d+) (.+)$')
  local known = redis.call('HEXISTS', key, step) == 1
  local rewound = head_inc ~= inc or step_before(step, head_step)
  if rewound then
    for _, field in ipairs(redis.call('HKEYS', key)) do
      local is_step = field ~= 'head' and field ~= 'rev'
      if is_step and not step_before(field, step) and (head_inc ~= inc or step_before(field, head_step)) then redis.call('HDEL', key, field) end
    end
    redis.call('HSET', key, 'head', inc .. ' ' .. step)
  end
  if rewound or known then touch_state(key) end
  if entry == '' then redis.call('HDEL', key, step) else redis.call('HSET', key, step, entry) end
  if redis.call('HLEN', key) > keep + keep / 8 then
    local steps = {}
    for _, field in ipairs(redis.call('HKEYS', key)) do
      if field ~= 'head' and field ~= 'rev' then steps[#steps + 1] = field end
    end
    table.sort(steps, step_before)
    for i = 1, #steps - keep do redis.call('HDEL', key, steps[i]) end
  end
  redis.call('PEXPIRE', key, ttl)
end
