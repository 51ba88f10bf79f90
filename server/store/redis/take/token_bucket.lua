-- SPDX-License-Identifier: Apache-2.0
-- A token bucket: '<Bdd' of its kind, the stamp, the interval it was reckoned by. A take has its
-- burst behind it.
makers[4] = function()
  local DEBT_MAX = 4503599627370496
  local JITTER = 500000

  local function decode(text)
    local state = {stamp = 0, interval = 1, stored_expiry = 0, is_changed = false}

    if text == false then
      return state
    end
    if #text ~= 17 then
      return nil
    end

    local number, stamp, interval = struct.unpack('<Bdd', text)

    if number ~= 4 or not (run.is_count(stamp) and run.is_count(interval) and interval > 0) then
      return nil
    end
    state.stamp, state.interval, state.stored_expiry = stamp, interval, stamp
    return state
  end

  -- The debt that takes explain: the capacity, or more where the limit is lower for now.
  local function most_debt(take, burst, capacity, interval)
    local most = math.max(take.a, take.burst_most or 0)

    return most == burst and capacity or math.min(most * interval, DEBT_MAX)
  end

  -- Sets `new_interval`, `debt`, `kept` and `is_restated`, as limit/token_bucket.c has them, and
  -- returns burst and capacity.
  local function reckon(state, take, is_all)
    local interval = math.ceil(take.length / math.max(take.limit, 1))
    local burst = take.limit > 0 and take.a or 0
    local capacity = burst * interval
    local kept = math.max(state.stamp - run.now, 0)
    local is_restated = false

    if capacity >= DEBT_MAX then
      burst = math.floor(DEBT_MAX / interval)
      capacity = burst * interval
    end
    if kept > 0 and interval ~= state.interval then
      kept = math.min(run.muldiv_up(kept, interval, state.interval), DEBT_MAX)
      is_restated = true
    end
    state.debt = kept
    if kept > capacity and not is_all then
      local most = most_debt(take, burst, capacity, interval)

      if kept <= most + JITTER then
        state.debt = math.min(kept, most)
      elseif kept > math.max(most, take.length) + JITTER then
        kept, state.debt = most, most
        is_restated = true
      end
    end
    state.new_interval, state.kept, state.is_restated = interval, kept, is_restated
    return burst, capacity
  end

  local function debt_after(state, hits)
    return math.min(state.debt + math.min(hits * state.new_interval, DEBT_MAX), DEBT_MAX)
  end

  local function wait_when_over(state, take, hits, is_all, burst, capacity)
    local wanted = burst > 0 and state.new_interval or 0
    local wait = debt_after(state, run.after_charge(true, hits, is_all)) + wanted - capacity

    return wait > 0 and wait or run.after_reset_at_once(take, true)
  end

  local function verdict(state, take, hits, is_all, burst, capacity)
    local interval = state.new_interval
    local room = math.max(capacity - state.debt, 0)
    local fit = math.floor(room / interval)

    if state.debt > capacity or hits > fit then
      return run.over, wait_when_over(state, take, hits, is_all, burst, capacity)
    end
    if state.debt == 0 and hits == 0 then
      return fit, 0
    end
    return fit - hits, interval - (room - fit * interval)
  end

  local function judge(state, take, hits, is_all)
    return verdict(state, take, hits, is_all, reckon(state, take, is_all))
  end

  local function put(state, debt)
    state.stamp, state.interval, state.is_changed = run.now + debt, state.new_interval, true
  end

  local function add(state, _, hits)
    put(state, debt_after(state, hits))
  end

  local function refuse(state)
    if state.is_restated then
      put(state, state.kept)
    end
  end

  local function give(state, take, hits, is_all)
    local burst, capacity = reckon(state, take, is_all)

    if hits > 0 and state.kept > 0 then
      state.debt = math.max(state.kept - math.min(hits * state.new_interval, DEBT_MAX), 0)
      put(state, state.debt)
    end
    return verdict(state, take, 0, is_all, burst, capacity)
  end

  local function encode(state)
    return struct.pack('<Bdd', 4, state.stamp, state.interval), state.stamp
  end

  return {
    n_parameters = 1,
    decode = decode,
    judge = judge,
    add = add,
    refuse = refuse,
    give = give,
    encode = encode,
  }
end
