/**
 * What the spool in Redis does in one step each. Everything stands below one prefix, `KEYS[1]`:
 *
 * | key             | holds                                                                              |
 * |-----------------|------------------------------------------------------------------------------------|
 * | `<p>:id`        | the last id, microseconds since the epoch at first                                   |
 * | `<p>:s:<kind>`  | a stream a kind: one entry an envelope, `<id>-0`, with all but headers and body     |
 * | `<p>:e:<id>`    | `h` and `b`: headers and body                                                       |
 * | `<p>:o:<keep>`  | sorted set by id, `<id>:<kind>`: the order in which room is made; keep is `0` or `1` |
 * | `<p>:k`         | number of envelopes by kind                                                        |
 * | `<p>:t`         | `n<keep>` and `b<keep>`: envelopes and bytes                                        |
 * | `<p>:l`         | what was lost, `<reason> <category>`: items                                         |
 * | `<p>:v`         | ids that were evicted of late: one that is delivered nevertheless was not lost       |
 *
 * A script's first change is one that Redis allows when it is full; then it lets the rest pass as well.
 */

/** Of ids that were evicted; more than can be under way in the drainer. */
const MOST_EVICTED_IDS = 1_024
const MOST_COUNTED = 1_000_000 // as in `outcomes.ts`

const COMMON = `
local p = KEYS[1]
local function entryOf(id, kind)
  local found = redis.call('XRANGE', p .. ':s:' .. kind, id .. '-0', id .. '-0')[1]
  if not found then return nil end
  local entry = {}
  for i = 1, #found[2], 2 do entry[found[2][i]] = found[2][i + 1] end
  return entry
end
local function remove(id, kind, entry)
  local keep = entry.keep
  redis.call('DEL', p .. ':e:' .. id)
  redis.call('XDEL', p .. ':s:' .. kind, id .. '-0')
  redis.call('ZREM', p .. ':o:' .. keep, id .. ':' .. kind)
  redis.call('HINCRBY', p .. ':t', 'n' .. keep, -1)
  redis.call('HINCRBY', p .. ':t', 'b' .. keep, '-' .. entry.bytes)
  if redis.call('HINCRBY', p .. ':k', kind, -1) <= 0 then
    redis.call('HDEL', p .. ':k', kind)
    redis.call('DEL', p .. ':s:' .. kind)
  end
end
local function lose(entry, reason)
  for category, quantity in pairs(cjson.decode(entry.categories)) do
    local counted = math.min(math.floor(quantity), ${MOST_COUNTED})
    if category ~= 'internal' and counted > 0 then
      redis.call('HINCRBY', p .. ':l', reason .. ' ' .. category, string.format('%.0f', counted))
    end
  end
end
local function oldest(keep, most)
  local found = {}
  for _, member in ipairs(redis.call('ZRANGE', p .. ':o:' .. keep, 0, most - 1)) do
    local id, kind = string.match(member, '^(%d+):(.*)$')
    local entry = entryOf(id, kind)
    if entry then found[#found + 1] = { id = id, kind = kind, entry = entry }
    else redis.call('ZREM', p .. ':o:' .. keep, member) end
  end
  return found
end
local function insert(kind, keep, at, client, eventId, categories, bytes, headers, body)
  local next = redis.call('INCR', p .. ':id')
  if next == 1 then
    -- Behind all ids that there were before the data was lost, if it was: somebody may still settle one of those.
    local time = redis.call('TIME')
    next = tonumber(time[1]) * 1000000 + tonumber(time[2])
    redis.call('SET', p .. ':id', string.format('%.0f', next))
  end
  local id = string.format('%.0f', next)
  redis.call('HSET', p .. ':e:' .. id, 'h', headers, 'b', body)
  redis.call('XADD', p .. ':s:' .. kind, id .. '-0', 'keep', keep, 'at', at, 'client', client, 'event', eventId,
    'categories', categories, 'bytes', bytes)
  redis.call('ZADD', p .. ':o:' .. keep, id, id .. ':' .. kind)
  redis.call('HINCRBY', p .. ':t', 'n' .. keep, 1)
  redis.call('HINCRBY', p .. ':t', 'b' .. keep, bytes)
  redis.call('HINCRBY', p .. ':k', kind, 1)
end
`

/** kind, keep, at, client, event id, categories, bytes, headers, body; bound, most to evict. Gives 1 if it is kept. */
export const ACCEPT = `${COMMON}
local kind, keep, bytes, bound, most = ARGV[1], ARGV[2], tonumber(ARGV[7]), tonumber(ARGV[10]), tonumber(ARGV[11])
local sizes = redis.call('HMGET', p .. ':t', 'b0', 'b1')
local other, errors = tonumber(sizes[1] or 0), tonumber(sizes[2] or 0)
local need = other + errors + bytes - bound
if need > (keep == '1' and other + errors or other) then return 0 end
local freed, count = 0, 0
for _, from in ipairs({ '0', '1' }) do
  while freed < need and count < most do
    local candidates = oldest(from, 64)
    if #candidates == 0 then break end
    for _, each in ipairs(candidates) do
      if freed >= need then break end
      remove(each.id, each.kind, each.entry)
      lose(each.entry, 'queue_overflow')
      redis.call('ZADD', p .. ':v', each.id, each.id)
      freed = freed + tonumber(each.entry.bytes)
      count = count + 1
    end
  end
end
if count > 0 then redis.call('ZREMRANGEBYRANK', p .. ':v', 0, -${MOST_EVICTED_IDS + 1}) end
if freed < need then return 0 end
insert(kind, keep, ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9])
return 1
`

/** id, kind, reason or `''`, categories, event id: a replica that takes over may give an id a second time. */
export const SETTLE = `${COMMON}
local id, kind, reason = ARGV[1], ARGV[2], ARGV[3]
local entry = entryOf(id, kind)
if entry and entry.event ~= ARGV[5] then return 0 end
if entry then
  remove(id, kind, entry)
  if reason ~= '' then lose(entry, reason) end
elseif reason == '' and redis.call('ZREM', p .. ':v', id) == 1 then
  for category, quantity in pairs(cjson.decode(ARGV[4])) do
    local counted = math.min(math.floor(quantity), ${MOST_COUNTED})
    local field = 'queue_overflow ' .. category
    local left = tonumber(redis.call('HGET', p .. ':l', field) or 0) - counted
    if left > 0 then redis.call('HSET', p .. ':l', field, string.format('%.0f', left))
    else redis.call('HDEL', p .. ':l', field) end
  end
end
return 1
`

/** Moment up to which all goes, most, reasons by kind. Gives how many went. */
export const EXPIRE = `${COMMON}
local before, most, reasons = tonumber(ARGV[1]), tonumber(ARGV[2]), cjson.decode(ARGV[3])
local count = 0
for _, keep in ipairs({ '0', '1' }) do
  for _, each in ipairs(most > count and oldest(keep, most - count) or {}) do
    if tonumber(each.entry.at) > before then break end
    remove(each.id, each.kind, each.entry)
    lose(each.entry, reasons[each.kind] or 'network_error')
    count = count + 1
  end
end
return count
`

/** As the first nine of `ACCEPT`: the client report; then what it tells, as field and items in turn. */
export const REPORT_LOSSES = `${COMMON}
for i = 10, #ARGV, 2 do
  local left = tonumber(redis.call('HGET', p .. ':l', ARGV[i]) or 0) - tonumber(ARGV[i + 1])
  if left > 0 then redis.call('HSET', p .. ':l', ARGV[i], string.format('%.0f', left))
  else redis.call('HDEL', p .. ':l', ARGV[i]) end
end
insert(ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9])
return 1
`
