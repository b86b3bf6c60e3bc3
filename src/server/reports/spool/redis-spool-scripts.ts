/**
 * The spool's operations in Redis, each atomic. All keys have one prefix, `KEYS[1]`:
 *
 * | key             | holds                                                                              |
 * |-----------------|------------------------------------------------------------------------------------|
 * | `<p>:id`        | the last id, microseconds since the epoch at first                                   |
 * | `<p>:s:<kind>`  | a stream per kind: one entry per envelope, `<id>-0`, with everything but headers and body |
 * | `<p>:e:<id>`    | `h` and `b`: headers and body                                                       |
 * | `<p>:c`         | sorted set of clients by their bytes                                               |
 * | `<p>:o:<keep>:<client>` | sorted set by id, `<id>:<kind>`: the order in which a client's envelopes are evicted; keep is `0` or `1` |
 * | `<p>:k`         | number of envelopes by kind                                                        |
 * | `<p>:t`         | `n<keep>` and `b<keep>`: envelopes and bytes                                        |
 * | `<p>:l`         | losses, `<reason> <category>`: items                                                |
 * | `<p>:v`         | ids that were evicted recently: one that is delivered after all was not lost        |
 *
 * A script's first change is one that Redis allows when it is full; Redis then allows the rest as well.
 */
import { LOSS_SENDER } from './outcomes.ts'

/** Number of remembered evicted ids; more than the drainer can have in flight. */
const MOST_EVICTED_IDS = 1_024
const MOST_COUNTED = 1_000_000 // as in `outcomes.ts`
const MOST_RANKED = 256 // clients, as in `plan-eviction.ts`
const EXPIRY_PAGE = 8 // entries read of a kind together

const COMMON = `
local p = KEYS[1]
local function fieldsOf(list)
  local entry = {}
  for i = 1, #list, 2 do entry[list[i]] = list[i + 1] end
  return entry
end
local function entryOf(id, kind)
  local found = redis.call('XRANGE', p .. ':s:' .. kind, id .. '-0', id .. '-0')[1]
  return found and fieldsOf(found[2]) or nil
end
local function account(client, bytes)
  if tonumber(redis.call('ZINCRBY', p .. ':c', bytes, client)) <= 0 then redis.call('ZREM', p .. ':c', client) end
end
local function remove(id, kind, entry)
  local keep = entry.keep
  redis.call('DEL', p .. ':e:' .. id)
  redis.call('XDEL', p .. ':s:' .. kind, id .. '-0')
  redis.call('ZREM', p .. ':o:' .. keep .. ':' .. entry.client, id .. ':' .. kind)
  account(entry.client, '-' .. entry.bytes)
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
  redis.call('ZADD', p .. ':o:' .. keep .. ':' .. client, id, id .. ':' .. kind)
  account(client, bytes)
  redis.call('HINCRBY', p .. ':t', 'n' .. keep, 1)
  redis.call('HINCRBY', p .. ':t', 'b' .. keep, bytes)
  redis.call('HINCRBY', p .. ':k', kind, 1)
end
`

/** Makes room as `plan-eviction.ts` does, with the largest client found by its account. */
const ROOM = `
-- Gives the rows that go, or nil where no more may go; and whether they are enough.
local function plan(sender, keep, bytes, need, ownNeed, most)
  local left, own = {}, bytes + tonumber(redis.call('ZSCORE', p .. ':c', sender) or 0)
  local ranked = redis.call('ZREVRANGE', p .. ':c', 0, ${MOST_RANKED - 1}, 'WITHSCORES')
  for i = 1, #ranked, 2 do
    if ranked[i] ~= sender and ranked[i] ~= '${LOSS_SENDER}' then left[ranked[i]] = tonumber(ranked[i + 1]) end
  end
  local places, rows, freed, ownFreed = {}, {}, 0, 0
  local function nextOf(client)
    local place = places[client] or { keep = '0', at = 0 }
    places[client] = place
    while true do
      local key = p .. ':o:' .. place.keep .. ':' .. client
      local member = redis.call('ZRANGE', key, place.at, place.at)[1]
      if member then
        local id, kind = string.match(member, '^(%d+):(.*)$')
        local entry = entryOf(id, kind)
        if entry then
          place.at = place.at + 1
          return { id = id, kind = kind, entry = entry }
        end
        redis.call('ZREM', key, member)
      elseif place.keep == '0' and keep == '1' then
        place.keep, place.at = '1', 0
      else return nil end
    end
  end
  while freed < need or ownFreed < ownNeed do
    if #rows == most then return rows, false end
    local client, amount = sender, own
    if ownFreed >= ownNeed then
      for each, holds in pairs(left) do if holds > amount then client, amount = each, holds end end
    end
    local row = nextOf(client)
    if row then
      local size = tonumber(row.entry.bytes)
      rows[#rows + 1] = row
      freed = freed + size
      if client == sender then own, ownFreed = own - size, ownFreed + size
      else left[client] = left[client] - size end
    elseif client == sender then return nil, false
    else left[client] = nil end
  end
  return rows, true
end
`

/**
 * kind, keep, at, client, event id, categories, bytes, headers, body; bounds of all and of a client, most to evict.
 * Returns 1 if it is kept.
 */
export const ACCEPT = `${COMMON}${ROOM}
local kind, keep, client, bytes = ARGV[1], ARGV[2], ARGV[4], tonumber(ARGV[7])
local bound, clientBound, most = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
local sizes = redis.call('HMGET', p .. ':t', 'b0', 'b1')
local total = tonumber(sizes[1] or 0) + tonumber(sizes[2] or 0) + bytes
if total > math.min(bound, clientBound) then
  local need = total - bound - tonumber(redis.call('ZSCORE', p .. ':c', '${LOSS_SENDER}') or 0)
  local ownNeed = bytes + tonumber(redis.call('ZSCORE', p .. ':c', client) or 0) - clientBound
  local rows, enough = plan(client, keep, bytes, need, ownNeed, most)
  for _, each in ipairs(rows or {}) do
    remove(each.id, each.kind, each.entry)
    lose(each.entry, 'queue_overflow')
    redis.call('ZADD', p .. ':v', each.id, each.id)
  end
  if rows and #rows > 0 then redis.call('ZREMRANGEBYRANK', p .. ':v', 0, -${MOST_EVICTED_IDS + 1}) end
  if not enough then return 0 end
end
insert(kind, keep, ARGV[3], client, ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9])
return 1
`

/** id, kind, reason or `''`, categories, event id: after a failover, a replica may give an id a second time. */
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

/** Moment up to which everything expires, most, reasons by kind. Returns the number of expired entries. */
export const EXPIRE = `${COMMON}
local before, most, reasons = tonumber(ARGV[1]), tonumber(ARGV[2]), cjson.decode(ARGV[3])
local count = 0
for _, kind in ipairs(redis.call('HKEYS', p .. ':k')) do
  local isYoung = false
  while not isYoung and count < most do
    -- Few at a time: what is too young for each of a hundred kinds would be read only to be left.
    local page = redis.call('XRANGE', p .. ':s:' .. kind, '-', '+', 'COUNT', math.min(${EXPIRY_PAGE}, most - count))
    isYoung = #page == 0
    for _, found in ipairs(page) do
      local entry = fieldsOf(found[2])
      isYoung = tonumber(entry.at) > before
      if isYoung then break end
      remove(string.match(found[1], '^(%d+)'), kind, entry)
      lose(entry, reasons[kind] or 'network_error')
      count = count + 1
    end
  end
end
return count
`

/** As the first nine of `ACCEPT`: the client report; then its counts, as field and items in turn. */
export const REPORT_LOSSES = `${COMMON}
for i = 10, #ARGV, 2 do
  local left = tonumber(redis.call('HGET', p .. ':l', ARGV[i]) or 0) - tonumber(ARGV[i + 1])
  if left > 0 then redis.call('HSET', p .. ':l', ARGV[i], string.format('%.0f', left))
  else redis.call('HDEL', p .. ':l', ARGV[i]) end
end
insert(ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9])
return 1
`

/** destination, now. Its key is the one of all destinations. */
export const NOTE_DELIVERY = `
redis.call('HDEL', KEYS[1], 'none')
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])`
