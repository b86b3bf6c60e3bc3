/**
 * The primitives of `redis-store.ts`, each atomic. All keys of a kind have one prefix, `KEYS[1]`:
 *
 * | key             | holds                                                                            |
 * |-----------------|----------------------------------------------------------------------------------|
 * | `<p>:e:<key>`   | an entry: `v` value, `g` group, `c` client, `x` expiry, `n` version, `h` epoch, `b` bytes |
 * | `<p>:x`         | sorted set of keys by expiry                                                     |
 * | `<p>:c:<client>`| sorted set of a client's keys by expiry, those without a value last              |
 * | `<p>:g:<group>` | sorted set of a group's keys by expiry                                           |
 * | `<p>:entries`, `<p>:bytes` | sorted sets of clients by what they have                              |
 * | `<p>:t`         | `entries` and `bytes` of all                                                     |
 * | `<p>:h`         | sorted set of groups by their epoch                                              |
 *
 * No key expires, because Redis evicts what does first when its memory is full: each change removes expired entries.
 * Expiries are in microseconds, epochs in milliseconds since the epoch. A script's first change is one that Redis allows
 * when it is full, where it only frees or ends; Redis then allows the rest as well.
 */
import { ENTRIES_A_CELL } from './crowded-keys.ts'
import { CLOCK_TOLERANCE_MICROS } from './rate-cells.ts'
import { CLIENT_SHARE, EPOCH_LIFETIME_MS } from './store.ts'

/** Entries that one call removes at most, where it adds one. */
const MOST_REMOVED = 64
/** The same, where a large value needs the room of many small ones: some milliseconds. */
const MOST_REMOVED_FOR_BYTES = 1_024

/**
 * Added to the expiry of entries without a value in the set of their client: later than any expiry. Calls in progress are
 * such entries. They free no bytes, and thousands of them would hide the results that do.
 */
const WITHOUT_VALUE = 4_000_000_000_000_000

// Numbers stay below 2^53, but Lua formats them with 14 digits by default.
const COMMON = `
local p = KEYS[1]
local function whole(number) return string.format('%.0f', number) end
local function account(client, entries, bytes)
  redis.call('HINCRBY', p .. ':t', 'entries', entries)
  redis.call('HINCRBY', p .. ':t', 'bytes', bytes)
  if tonumber(redis.call('ZINCRBY', p .. ':entries', entries, client)) > 0 then
    redis.call('ZINCRBY', p .. ':bytes', bytes, client)
  else
    redis.call('ZREM', p .. ':entries', client)
    redis.call('ZREM', p .. ':bytes', client)
  end
end
local function forget(key)
  local old = redis.call('HMGET', p .. ':e:' .. key, 'c', 'g', 'b')
  redis.call('DEL', p .. ':e:' .. key)
  redis.call('ZREM', p .. ':x', key)
  if not old[1] then return end
  redis.call('ZREM', p .. ':c:' .. old[1], key)
  if old[2] ~= '' then redis.call('ZREM', p .. ':g:' .. old[2], key) end
  account(old[1], -1, 0 - tonumber(old[3]))
end
local function sweep(now)
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', p .. ':x', '-inf', now, 'LIMIT', 0, ${MOST_REMOVED})) do
    forget(key)
  end
end
local function find(key, now)
  local found = redis.call('HMGET', p .. ':e:' .. key, 'v', 'g', 'c', 'x', 'n', 'h')
  if found[1] and tonumber(found[4]) > now then return found end
  return nil
end
-- Gives the version.
local function save(key, value, group, client, expires, epoch)
  local old = redis.call('HMGET', p .. ':e:' .. key, 'c', 'g', 'b', 'n')
  local bytes = #value
  local version = whole(tonumber(old[4] or 0) + 1)
  redis.call('HSET', p .. ':e:' .. key, 'v', value, 'g', group, 'c', client, 'x', whole(expires), 'n', version,
    'h', whole(epoch), 'b', bytes)
  redis.call('ZADD', p .. ':x', whole(expires), key)
  if old[1] and old[1] ~= client then
    redis.call('ZREM', p .. ':c:' .. old[1], key)
    account(old[1], -1, 0 - tonumber(old[3]))
  end
  if old[1] ~= client then
    account(client, 1, bytes)
  elseif bytes ~= tonumber(old[3]) then
    account(client, 0, bytes - tonumber(old[3]))
  end
  redis.call('ZADD', p .. ':c:' .. client, whole(bytes > 0 and expires or expires + ${WITHOUT_VALUE}), key)
  if old[2] and old[2] ~= '' and old[2] ~= group then redis.call('ZREM', p .. ':g:' .. old[2], key) end
  if group ~= '' then redis.call('ZADD', p .. ':g:' .. group, whole(expires), key) end
  return version
end
-- Removes the entry of a client that is first in its set, other than this one.
local function dropOf(client, measure, except)
  for _, key in ipairs(redis.call('ZRANGE', p .. ':c:' .. client, 0, 1)) do
    if key ~= except then
      if measure == 'bytes' and tonumber(redis.call('HGET', p .. ':e:' .. key, 'b') or 0) == 0 then return false end
      forget(key)
      return true
    end
  end
  return false
end
-- Takes the room for so much more of a measure. Gives whether it is there.
local function makeRoom(client, measure, most, more, except)
  for left = measure == 'bytes' and ${MOST_REMOVED_FOR_BYTES} or ${MOST_REMOVED}, 0, -1 do
    local own = tonumber(redis.call('ZSCORE', p .. ':' .. measure, client) or 0) + more
    local over = tonumber(redis.call('HGET', p .. ':t', measure) or 0) + more > most
    if own <= most * ${CLIENT_SHARE} and not over then return true end
    local greediest = own > most * ${CLIENT_SHARE} and client or redis.call('ZREVRANGE', p .. ':' .. measure, 0, 0)[1]
    if left == 0 or not greediest or not dropOf(greediest, measure, except) then return false end
  end
end
`

/** key, now. Gives the fields of the entry, or none. */
export const GET = `${COMMON}
return find(ARGV[1], tonumber(ARGV[2])) or {}
`

/**
 * key, value, group, client, expiry, now; `1` if absent; version or `''`; epoch or `''`; most of the group or `''`; most
 * entries and most bytes. Gives version and epoch if it is kept, and else the fields of the entry that is in the way, or
 * none: its group has advanced, or there is no room for the value.
 */
export const PUT = `${COMMON}
local key, value, group, client = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local expires, now = tonumber(ARGV[5]), tonumber(ARGV[6])
local found = find(key, now)
if ARGV[7] == '1' and found then return { {}, found } end
if ARGV[8] ~= '' and ARGV[8] ~= (found and found[5]) then return { {}, found or {} } end
local current = group ~= '' and tonumber(redis.call('ZSCORE', p .. ':h', group) or 0) or 0
local epoch = tonumber(ARGV[9]) or current
if epoch < current then return { {}, {} } end
sweep(now)
local old = redis.call('HMGET', p .. ':e:' .. key, 'c', 'b')
local isOwn = old[1] == client
local mostBytes = tonumber(ARGV[12])
local more = math.max(0, #value - (isOwn and tonumber(old[2]) or 0))
makeRoom(client, 'entries', tonumber(ARGV[11]), isOwn and 0 or 1, key)
if more > mostBytes * ${CLIENT_SHARE} then return { {}, {} } end
local isRoom = makeRoom(client, 'bytes', mostBytes, more, key)
if more > 0 and not isRoom then return { {}, {} } end
local version = save(key, value, group, client, expires, epoch)
if ARGV[10] ~= '' then
  local excess = redis.call('ZCARD', p .. ':g:' .. group) - tonumber(ARGV[10])
  for _, other in ipairs(redis.call('ZRANGE', p .. ':g:' .. group, 0, math.max(0, excess))) do
    if excess <= 0 then break end
    if other ~= key then
      forget(other)
      excess = excess - 1
    end
  end
end
return { { version, whole(epoch) }, {} }
`

/** key, group, version or empty. Gives 1 if there was one. */
export const REMOVE = `${COMMON}
local entry = redis.call('HMGET', p .. ':e:' .. ARGV[1], 'g', 'n')
if entry[1] ~= ARGV[2] or (ARGV[3] ~= '' and entry[2] ~= ARGV[3]) then return 0 end
forget(ARGV[1])
return 1
`

/** group, now. Gives each key and its fields. */
export const LIST = `${COMMON}
local entries = {}
for _, key in ipairs(redis.call('ZRANGEBYSCORE', p .. ':g:' .. ARGV[1], '(' .. ARGV[2], '+inf')) do
  local found = find(key, tonumber(ARGV[2]))
  if found then entries[#entries + 1] = { key, found } end
end
return entries
`

/** group, now, the same in milliseconds, key that stays, most epochs. Gives the number that were removed, and the epoch. */
export const ADVANCE = `${COMMON}
redis.call('DEL', p .. ':none')
local group, now = ARGV[1], tonumber(ARGV[2])
local epoch = math.max(tonumber(ARGV[3]), tonumber(redis.call('ZSCORE', p .. ':h', group) or 0) + 1)
local ended = 0
for _, key in ipairs(redis.call('ZRANGE', p .. ':g:' .. group, 0, -1)) do
  if key == ARGV[4] then
    redis.call('HSET', p .. ':e:' .. key, 'h', whole(epoch))
  else
    if find(key, now) then ended = ended + 1 end
    forget(key)
  end
end
redis.call('ZADD', p .. ':h', whole(epoch), group)
redis.call('ZREMRANGEBYSCORE', p .. ':h', '-inf', whole(tonumber(ARGV[3]) - ${EPOCH_LIFETIME_MS}))
redis.call('ZREMRANGEBYRANK', p .. ':h', 0, -tonumber(ARGV[5]) - 1)
return { ended, whole(epoch) }
`

/**
 * key, client, now, window and interval; most entries; name and number of its shared cell, as `crowded-keys.ts` says.
 * Gives 0, or without a point the moment at which all are back.
 */
export const TAKE = `${COMMON}
local key, client, now, most = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[6])
local latest, interval = now + tonumber(ARGV[4]), tonumber(ARGV[5])
local found = find(key, now)
if not found then
  sweep(now)
  local level = most * ${CLIENT_SHARE}
  if tonumber(redis.call('HGET', p .. ':t', 'entries') or 0) >= most then
    level = math.min(level, most / math.max(1, redis.call('ZCARD', p .. ':entries')))
  end
  if tonumber(redis.call('ZSCORE', p .. ':entries', client) or 0) >= level then
    local count = 1
    while count * ${2 * ENTRIES_A_CELL} <= level do count = count * 2 end
    key, client = ARGV[7] .. whole(tonumber(ARGV[8]) % count), '+' .. client
    found = find(key, now)
  end
end
local stands = found and tonumber(found[4]) or now
local owner = found and found[3] or client
local taken = stands + interval
if taken <= latest then
  if not found then makeRoom(owner, 'entries', most - 1, 0, key) end
  save(key, '', '', owner, taken, 0)
  return '0'
end
if stands > latest + ${CLOCK_TOLERANCE_MICROS} then save(key, '', '', owner, latest, 0) end
return whole(math.min(stands, latest))
`
