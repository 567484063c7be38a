-- Shared by every script of this folder; the loader puts it in front of each.

local function now_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

local function split(csv)
  local out = {}
  for item in string.gmatch(csv or '', '[^,]+') do out[#out + 1] = item end
  return out
end

-- Reports an event of a run to whoever keeps its history. About this many notices stay.
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

-- The union of two bitmaps of one length, and whether they met.
local function union(a, b)
  local out, met = {}, false
  for i = 1, #a do
    local x, y = string.byte(a, i), string.byte(b, i)
    if bit.band(x, y) ~= 0 then met = true end
    out[i] = string.char(bit.bor(x, y))
  end
  return table.concat(out), met
end

-- A pipeline is complete when every field it needs has every row. `need` is "stage|field,field".
local function complete(status, need)
  local stage, fields = string.match(need, '^([^|]+)|(.*)$')
  local rows = redis.call('HGET', status, 'rows:' .. stage)
  if not rows then return false end
  local full = full_bitmap(tonumber(rows))
  for _, field in ipairs(split(fields)) do
    if redis.call('HGET', status, 'made:' .. stage .. ':' .. field) ~= full then return false end
  end
  return true
end

-- Every key of the step that the status knows of, the status itself left out.
local function step_keys(status)
  local prefix = string.sub(status, 1, #status - #'status')
  local keys = { prefix .. 'out' }
  for _, stage in ipairs(split(redis.call('HGET', status, 'stages'))) do
    for _, put in ipairs(split(redis.call('HGET', status, 'puts:' .. stage))) do
      local hash = redis.call('HGET', status, 'hash:' .. stage .. ':' .. put)
      keys[#keys + 1] = prefix .. stage .. ':' .. put .. '.' .. string.sub(hash, 1, 16)
    end
  end
  for _, result in ipairs(split(redis.call('HGET', status, 'results'))) do keys[#keys + 1] = prefix .. result end
  return keys
end

local function refresh_step_ttl(status, ttl)
  redis.call('PEXPIRE', status, ttl)
  for _, key in ipairs(step_keys(status)) do redis.call('PEXPIRE', key, ttl) end
end

-- A full Redis refuses a script's first write if it takes memory, and accepts every write after one that takes none. This is such a write:
-- outcomes must get through, and steps be released, when Redis is full above all. (No shebang flags: they need Redis 7.)
local function write_when_full(status, ttl)
  redis.call('PEXPIRE', status, ttl)
end

-- After a release: true when no complete pipeline, shadows too, is still unsettled.
local function nothing_pending(mount, status)
  for _, pipeline in ipairs(split(redis.call('HGET', mount, 'pipelines'))) do
    if redis.call('HEXISTS', status, 'settled:' .. pipeline) == 0 then
      local need = redis.call('HGET', mount, 'need:' .. pipeline)
      if need and complete(status, need) then return false end
    end
  end
  return true
end

-- Unlinks a released step; the tombstone that stays keeps late comers out.
local function bury_step(status, steps, member, ttl)
  for _, key in ipairs(step_keys(status)) do redis.call('UNLINK', key) end
  local inc = redis.call('HGET', status, 'inc')
  redis.call('DEL', status)
  redis.call('HSET', status, 'inc', inc, 'released', '1', 'buried', '1')
  redis.call('PEXPIRE', status, ttl)
  redis.call('ZREM', steps, member)
end

-- 'OK', or why this incarnation may not touch the run.
local function fence(mount, inc)
  local current = redis.call('HGET', mount, 'inc')
  if not current then return 'NOT_MOUNTED' end
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

-- One step's part of a pipeline's state, or its absence: `entry` takes the place of whatever the step said before. `head` says which
-- incarnation wrote last, and its earliest step: an incarnation that begins, or goes further back, does those steps again, so what
-- others said of that step and later ones goes. Beyond `keep` steps (an eighth more, to sort seldom) the oldest are forgotten.
local function remember_step(key, inc, step, entry, keep, ttl)
  local head_inc, head_step = string.match(redis.call('HGET', key, 'head') or '', '^(%d+) (.+)$')
  if head_inc ~= inc or step_before(step, head_step) then
    local all = redis.call('HGETALL', key)
    for i = 1, #all, 2 do
      if all[i] ~= 'head' and not step_before(all[i], step) and string.format('%.0f', cmsgpack.unpack(all[i + 1])[1]) ~= inc then
        redis.call('HDEL', key, all[i])
      end
    end
    redis.call('HSET', key, 'head', inc .. ' ' .. step)
  end
  if entry == '' then redis.call('HDEL', key, step) else redis.call('HSET', key, step, entry) end
  if redis.call('HLEN', key) > keep + keep / 8 then
    local steps = {}
    for _, field in ipairs(redis.call('HKEYS', key)) do
      if field ~= 'head' then steps[#steps + 1] = field end
    end
    table.sort(steps, step_before)
    for i = 1, #steps - keep do redis.call('HDEL', key, steps[i]) end
  end
  redis.call('PEXPIRE', key, ttl)
end
