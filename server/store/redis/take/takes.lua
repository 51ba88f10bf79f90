-- SPDX-License-Identifier: Apache-2.0
-- Judges and charges what is asked, group by group, by the kinds; then writes and replies.
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

-- Charges, or gives back.
local function settle(take, is_all)
  local state, hits = take.state, take.hits

  if not state then
    take.remains = FOREIGN
  elseif take.is_refund then
    take.remains, take.reset = take.kind.give(state, take, hits, is_all)
    take.remains = math.max(0, take.remains)
  else
    local is_over = judge(take, hits, is_all)

    if hits > 0 and (is_all or not is_over) then
      take.kind.add(state, take, hits, is_all)
    elseif hits > 0 then
      refuse(take)
    end
  end
end

local take_group

if mode == 1 then
  -- Each is judged by the count before the call, also several on one key, as the incumbent does.
  function take_group(group)
    local stops = false

    for i = 1, #group do
      local take = group[i]

      if not take.state then
        stops = stops or take.is_enforced and not take.is_refund
      elseif not take.is_refund then
        take.would_be_over = judge(take, take.hits, take.is_all)
        stops = stops or take.would_be_over
      end
    end
    for i = 1, #group do
      local take = group[i]

      if take.state and not take.is_refund and stops and not take.would_be_over then
        judge(take, 0, take.is_all)
      else
        settle(take, true)
      end
    end
  end
elseif not has_all_or_nothing then
  function take_group(group)
    for i = 1, #group do
      settle(group[i], group[i].is_all)
    end
  end
else
  -- Sets the hits that `group` would put on the key of each: those on one key add up before the
  -- check.
  local function sum_demand(group)
    local demand = {}

    for i = 1, #group do
      local take = group[i]

      if not take.is_refund then
        demand[take.key] = math.min((demand[take.key] or 0) + take.hits, run.most)
      end
    end
    for i = 1, #group do
      group[i].judged_hits = demand[group[i].key]
    end
  end

  -- Says of each whether it would be over, and returns whether all that matter fit.
  local function check(group)
    local all_fit = true

    if run.has_twins then
      sum_demand(group)
    end
    run.tells_wait = false
    for i = 1, #group do
      local take = group[i]

      if not take.is_refund then
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

  -- What is charged with its group is charged even if it does not fit itself. What fits, and has a
  -- key of its own, was judged as it would be now.
  function take_group(group)
    local all_fit = check(group)

    for i = 1, #group do
      local take = group[i]
      local fits_alone = not run.has_twins and take.state and not take.would_be_over

      if take.is_all_or_nothing and not all_fit and take.state and not take.is_refund then
        look(take)
      elseif fits_alone and take.hits > 0 and not take.is_refund then
        take.kind.add(take.state, take, take.hits, take.is_all)
      else
        settle(take, take.is_all or take.is_all_or_nothing)
      end
    end
  end
end

-- Takes of one key share what there is.
local states = {}

for i = 1, #takes do
  local take = takes[i]
  local kind, key = kinds[take.kind], take.key

  take.kind = kind
  if take.group then
    local state = states[key]

    if state == nil then
      if kind.read then
        state = kind.read(take)
      else
        local text = run.get(key)

        state = text ~= nil and kind.decode(text, take)
      end
      state = state or false
      states[key] = state
    else
      run.has_twins = true
    end
    take.state = state
  end
end
if is_one_group then
  take_group(takes)
else
  local groups, group_of = {}, {}

  for i = 1, #takes do
    local take = takes[i]
    local group = group_of[take.group]

    if group then
      group[#group + 1] = take
    elseif take.group then
      group = {take}
      group_of[take.group] = group
      groups[#groups + 1] = group
    end
  end
  for i = 1, #groups do
    take_group(groups[i])
  end
end
for i = 1, #takes do
  local take = takes[i]
  local state, kind = take.state, take.kind

  if state and state.is_changed then
    if kind.write then
      kind.write(state, take.key)
    else
      run.set(take.key, kind.encode(state))
    end
    state.is_changed = false
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
