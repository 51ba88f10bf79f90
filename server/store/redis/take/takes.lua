-- SPDX-License-Identifier: Apache-2.0
local kinds = {}

-- The kind with that number, or from 128 on that of 128 less, which warms up; made when it is first
-- asked for.
local function kind_of(number)
  local kind = kinds[number]

  if not kind and makers[number % 128] then
    kind = makers[number % 128]()
    if number >= 128 then
      kind = make_warm_up(number - 128, kind)
    end
    kinds[number] = kind
  end
  return kind
end

local function read(take)
  local kind = take.kind

  if kind.read then
    return kind.read(take)
  end

  local text = run.get(take.key)

  if text == nil then
    return nil
  end
  return kind.decode(text, take)
end

local function write(take)
  local kind, state = take.kind, take.state

  if kind.write then
    kind.write(state, take.key)
  else
    run.set(take.key, kind.encode(state))
  end
  state.is_changed = false
end

-- Sets what `take` is told with `hits` on it, and says whether it is over.
local function judge(take, hits, is_all)
  take.remains, take.reset = take.kind.judge(take.state, take, hits, is_all)
  return take.remains == run.over
end

-- Leaves what a take that is over leaves: what its kind mends or notes when it refuses.
local function refuse(take)
  if take.kind.refuse then
    take.kind.refuse(take.state, take)
  end
end

local function charge(take, is_all)
  local is_over = judge(take, take.hits, is_all)

  if take.hits == 0 then
    return
  end
  if not is_over or is_all then
    take.kind.add(take.state, take, take.hits, is_all)
  else
    refuse(take)
  end
end

local function give_back(take, is_all)
  take.remains, take.reset = take.kind.give(take.state, take, take.hits, is_all)
  take.remains = math.max(0, take.remains)
end

-- The hits that `group` would put on each key: those on one key add up before the check.
local function sum_demand(group)
  local demand = {}

  for i = 1, #group do
    local take = group[i]

    if not take.is_refund then
      demand[take.key] = math.min((demand[take.key] or 0) + take.hits, run.most)
    end
  end
  return demand
end

-- Says of each whether it would be over, and returns whether all that matter fit.
local function check(group)
  local demand = #group > 1 and sum_demand(group)
  local all_fit = true

  run.tells_wait = false

  for i = 1, #group do
    local take = group[i]

    if not take.is_refund then
      take.judged_hits = demand and demand[take.key] or take.hits
      take.would_be_over = take.state and judge(take, take.judged_hits, take.is_all)
      if take.is_enforced and (take.would_be_over or not take.state) then
        all_fit = false
      end
    end
  end
  run.tells_wait = true
  return all_fit
end

-- What is not charged is looked at; what would have been over stays so, though a refund of the
-- group has made room since.
local function look(take)
  if not take.would_be_over then
    judge(take, 0, take.is_all)
    return
  end
  if judge(take, take.judged_hits, take.is_all) and take.hits > 0 then
    refuse(take)
  end
  take.remains, take.reset = run.over, math.max(take.reset, 1)
end

-- What is charged with its group is charged even if it does not fit itself.
local function take_group(group)
  local all_fit = check(group)

  for i = 1, #group do
    local take = group[i]
    local is_all = take.is_all or take.is_all_or_nothing

    if not take.state then
      take.remains = run.foreign
    elseif take.is_refund then
      give_back(take, is_all)
    elseif take.is_all_or_nothing and not all_fit then
      look(take)
    else
      charge(take, is_all)
    end
  end
end

-- Each is judged by the count before the call, also several on one key, as the incumbent does.
local function take_stopping(group)
  local stops = false

  for i = 1, #group do
    local take = group[i]

    if take.state and not take.is_refund then
      take.would_be_over = judge(take, take.hits, take.is_all)
      stops = stops or take.would_be_over
    end
  end
  for i = 1, #group do
    local take = group[i]

    if not take.state then
      take.remains = run.foreign
    elseif take.is_refund then
      give_back(take, true)
    elseif stops and not take.would_be_over then
      judge(take, 0, take.is_all)
    else
      charge(take, true)
    end
  end
end

local MODES = {[0] = take_group, [1] = take_stopping}
local takes, states, groups, group_of = {}, {}, {}, {}

for i = n_done + 1, #KEYS do
  local key = KEYS[i]
  local hits, limit, length, number, count, refund, enforced, booked, dated, id
  local a, b, c, d, e, warm_up, warm_up_start

  hits, limit, length, number, count, refund, enforced, booked, dated, id, at =
    unpack('<dddBBBBBBI4', body, at)

  local kind = kind_of(number)

  if kind.n_parameters == 1 then
    a, at = unpack('<d', body, at)
  elseif kind.n_parameters == 5 then
    a, b, c, d, e, at = unpack('<ddddd', body, at)
  end
  if number >= 128 then
    warm_up, warm_up_start, at = unpack('<dd', body, at)
  end

  local take = {
    key = key,
    hits = hits,
    limit = limit, -- that is enforced
    length = length,
    a = a,
    kind = kind,
    is_all = count == 0,
    is_all_or_nothing = count == 2,
    is_refund = refund == 1,
    is_enforced = enforced == 1,
    judged_hits = hits,
    would_be_over = false,
    state = false,
    remains = LATE,
    reset = 0,
  }

  if b then
    take.b, take.c, take.d, take.e = b, c, d, e
  end
  if warm_up then
    take.requests, take.warm_up, take.warm_up_start = limit, warm_up, warm_up_start
  end
  run.is_dated = dated == 1
  takes[i - n_done] = take
  if not is_late or booked == 1 then
    local state = states[key]

    if state == nil then
      state = read(take) or false
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

  if state and state.is_changed then
    write(take)
  end
  reply[n + 1], reply[n + 2] = take.remains, take.reset
  n = n + 2
  if take.warm_up then
    n = n + 1
    reply[n] = take.limit
  end
end
if run.n_repaired + run.n_restarted > 0 then
  reply[n + 1], reply[n + 2] = run.n_repaired, run.n_restarted
end
return reply
