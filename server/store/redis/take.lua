-- SPDX-License-Identifier: Apache-2.0
--
-- Judges and charges the takes of one call, atomically. Redis 7.0 or later, or Valkey.
--
-- KEYS:    one a take, in order; a key may come twice.
-- ARGV[1]: packed little-endian. Head '<BBdd': the mode (0 by count, 1 stop), whether every take is
--          of the plain sort (charges and looks on fixed windows that count all), the time after
--          which it is too late (0: never), the time to count at (0: Redis's own). Then a record
--          '<dddBBBBBBI4' a take: hits, limit, length of the window; kind, what it charges (0 all,
--          1 admitted, 2 all or nothing), whether it is a refund, enforced, booked even when late,
--          on a key that names its window; group. Times are in microseconds since the epoch.
-- Reply:   integers. The time counted at; then two a take: what remains and the time until the
--          window ends, or OVER and that time, or FOREIGN or LATE and 0; at the end, only when they
--          are not both 0, how many counters were repaired and how many began anew.
--
-- Everything is below 2^53, so Lua's numbers are exact. Functions cost when they are made, at every
-- run, so the plain sort is done before any is.
local OVER, FOREIGN, LATE = -1, -2, -3
local COUNT_MAX = 9007199254740991
local RECORD_LENGTH = 34

local call, try, unpack = redis.call, redis.pcall, struct.unpack
local floor, ceil, min, max = math.floor, math.ceil, math.min, math.max
local body = ARGV[1]
local mode, is_plain, not_after, now, at = unpack('<BBdd', body)

if now == 0 then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
end

local is_late = not_after > 0 and now > not_after
local reply, n, n_done = {now}, 1, 0

-- The plain sort. What is odd in any way ends the loop before it is charged, and is left to the
-- thorough part below.
if is_plain == 1 and not is_late then
  for i = 1, #KEYS do
    local key = KEYS[i]
    local hits, limit, length = unpack('<ddd', body, at)
    local start = now - now % length
    local expiry = call('PEXPIRETIME', key)
    local used = hits

    if expiry == -2 then
      if hits > 0 then
        call('SET', key, hits, 'PXAT', ceil((start + length) / 1000))
      end
    else
      local ahead = floor(expiry * 1000 / length) * length - length - start

      if ahead < 0 or ahead > length then
        break
      end
      start = start + ahead
      if hits > 0 then
        used = try('INCRBY', key, hits == 1 and '1' or hits) -- a number is slow to print
      else
        used = try('GET', key)
        used = type(used) == 'string' and used:find('^[1-9]%d*$') and tonumber(used)
      end
      if type(used) ~= 'number' or used < hits or used > COUNT_MAX then
        break
      end
    end

    local left = start + length - now

    reply[n + 1] = used > limit and OVER or limit - used
    reply[n + 2] = left < length and left or length
    n, n_done, at = n + 2, i, at + RECORD_LENGTH
  end
  if n_done == #KEYS then
    return reply
  end
end

-- All others: each counter is read once, judged and charged as a table, and written once. A write
-- that Redis refuses (full, read-only) raises its error; it is the first one then, so nothing was
-- charged.
local COUNT_ADMITTED, COUNT_ALL_OR_NOTHING = 1, 2
local n_repaired, n_restarted = 0, 0

-- A kind of limit is
--   read(take)              its state; nil when the key holds something else
--   remains(state, take, h) what would remain after h hits more; below 0: it would be over
--   add(state, h), give(state, h)
--   reset(state, take)      the time until it begins anew
--   write(state, key)
-- and a state says in `is_changed` whether it has to be written.
--
-- A fixed window is a decimal count that expires with its window. Its end is read from the time to
-- live, not believed to have come because the key is gone or not: scripts see expiry by a frozen
-- clock. The count goes on when the window is this one or the next (time went back by little), and
-- begins anew otherwise. Without a time to live it would never end, so it is given one.
--
-- A key that names its window, in the incumbent's form, has one window in its life, and its time to
-- live says nothing but that there is one: the incumbent lets it live longer, and the clock that
-- named it need not agree with this one. It lives for a window's length here.
local fixed_window = {}

function fixed_window.read(take)
  local text = try('GET', take.key)
  local length = take.length
  local start = now - now % length
  local state = {
    used = 0,
    start = start,
    expiry = (take.is_dated and now or start) + length,
    stored = false,
    is_changed = false,
  }

  if not text then
    return state
  end
  if type(text) == 'table' then
    if text.err:find('WRONGTYPE', 1, true) then
      return nil
    end
    error(text)
  end
  if text ~= '0' and not text:find('^%-?[1-9]%d*$') then
    return nil
  end

  local stored = tonumber(text)
  local expiry = call('PEXPIRETIME', take.key)
  local ahead = take.is_dated and 0 or floor(expiry * 1000 / length) * length - length - start

  if expiry == -1 then
    n_repaired = n_repaired + 1
    state.is_changed = true
  elseif ahead > length then
    n_restarted = n_restarted + 1
    return state
  elseif ahead < 0 then
    return state
  else
    state.start = start + ahead
    state.expiry = state.expiry + ahead
  end
  state.used = max(0, min(stored, COUNT_MAX))
  state.stored = expiry ~= -1 and state.used == stored and stored
  return state
end

function fixed_window.remains(state, take, hits)
  return take.limit - (state.used + hits)
end

function fixed_window.add(state, hits)
  state.used = min(state.used + hits, COUNT_MAX)
  state.is_changed = state.is_changed or hits > 0
end

function fixed_window.give(state, hits)
  state.is_changed = state.is_changed or (hits > 0 and state.used > 0)
  state.used = max(state.used - hits, 0)
end

function fixed_window.reset(state, take)
  return min(state.start + take.length - now, take.length)
end

function fixed_window.write(state, key)
  if state.stored then
    local more = state.used - state.stored

    call('INCRBY', key, more == 1 and '1' or more)
  else
    call('SET', key, state.used, 'PXAT', ceil(state.expiry / 1000))
  end
end

local KINDS = {[0] = fixed_window}

local function is_over(take, hits)
  return take.kind.remains(take.state, take, hits) < 0
end

-- Sets what `take` is told, with `hits` on it.
local function judge(take, hits)
  local remains = take.kind.remains(take.state, take, hits)

  take.remains = remains < 0 and OVER or remains
end

local function charge(take)
  judge(take, take.hits)
  take.kind.add(take.state, take.hits)
end

local function give_back(take)
  take.kind.give(take.state, take.hits)
  take.remains = max(0, take.kind.remains(take.state, take, 0))
end

-- The hits that `group` would put on each key: those on one key add up before the check.
local function sum_demand(group)
  local demand = {}

  for i = 1, #group do
    local take = group[i]

    if not take.is_refund then
      demand[take.key] = (demand[take.key] or 0) + take.hits
    end
  end
  return demand
end

-- Says of each whether it would be over, and returns whether all that matter fit.
local function check(group)
  local demand = #group > 1 and sum_demand(group)
  local all_fit = true

  for i = 1, #group do
    local take = group[i]

    take.would_be_over = take.state and not take.is_refund and
      is_over(take, demand and demand[take.key] or take.hits)
    if take.is_enforced and (take.would_be_over or not take.state) and not take.is_refund then
      all_fit = false
    end
  end
  return all_fit
end

-- What is not charged is looked at; it was over if it would have been.
local function look(take)
  if take.would_be_over then
    take.remains = OVER
  else
    judge(take, 0)
  end
end

local function take_group(group)
  local all_fit = check(group)

  for i = 1, #group do
    local take = group[i]

    if not take.state then
      take.remains = FOREIGN
    elseif take.is_refund then
      give_back(take)
    elseif take.count == COUNT_ALL_OR_NOTHING and not all_fit then
      look(take)
    elseif take.count == COUNT_ADMITTED and is_over(take, take.hits) then
      take.remains = OVER
    else
      charge(take)
    end
  end
end

-- Each is judged by the count before the call, also several on one key, as the incumbent does.
local function take_stopping(group)
  local stops = false

  for i = 1, #group do
    local take = group[i]

    take.would_be_over = take.state and not take.is_refund and is_over(take, take.hits)
    stops = stops or take.would_be_over
  end
  for i = 1, #group do
    local take = group[i]

    if not take.state then
      take.remains = FOREIGN
    elseif take.is_refund then
      give_back(take)
    elseif stops and not take.would_be_over then
      judge(take, 0)
    else
      charge(take)
    end
  end
end

local MODES = {[0] = take_group, [1] = take_stopping}
-- Tables are made with all their fields at once, since growing one field by field costs more.
local takes, states, groups, group_of = {}, {}, {}, {}

for i = n_done + 1, #KEYS do
  local key = KEYS[i]
  local hits, limit, length, kind, count, refund, enforced, booked, dated, id
  hits, limit, length, kind, count, refund, enforced, booked, dated, id, at =
    unpack('<dddBBBBBBI4', body, at)
  if not KINDS[kind] then
    return redis.error_reply('ERR this kind of limit is not known to the script')
  end

  local take = {
    key = key,
    hits = hits,
    limit = limit,
    length = length,
    kind = KINDS[kind],
    count = count,
    is_refund = refund == 1,
    is_enforced = enforced == 1,
    is_dated = dated == 1,
    would_be_over = false,
    state = false,
    remains = LATE,
  }

  takes[i - n_done] = take
  if not is_late or booked == 1 then
    local state = states[key]

    if state == nil then
      state = take.kind.read(take) or false
      states[key] = state
    end
    take.state = state
    id = mode == 0 and id or 0

    local group = group_of[id]

    if group then
      group[#group + 1] = take
    else
      group = {take}
      group_of[id] = group
      groups[#groups + 1] = group
    end
  end
end
for i = 1, #groups do
  MODES[mode](groups[i])
end
for i = 1, #takes do
  local take = takes[i]
  local state = take.state

  reply[n + 1], reply[n + 2] = take.remains, 0
  if state then
    if state.is_changed then
      take.kind.write(state, take.key)
      state.is_changed = false
    end
    reply[n + 2] = take.kind.reset(state, take)
  end
  n = n + 2
end
if n_repaired + n_restarted > 0 then
  reply[n + 1], reply[n + 2] = n_repaired, n_restarted
end
return reply
