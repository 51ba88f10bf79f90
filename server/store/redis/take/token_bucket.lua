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

  -- Sets `paid_interval`, and returns burst and capacity by it.
  local function set_interval(state, take, interval)
    local burst = take.limit > 0 and take.a or 0
    local capacity = burst * interval

    if capacity >= DEBT_MAX then
      burst = math.floor(DEBT_MAX / interval)
      capacity = burst * interval
    end
    state.paid_interval = interval
    return burst, capacity
  end

  local function restated(debt, from, to)
    return math.min(run.muldiv_up(debt, to, from), DEBT_MAX)
  end

  -- Sets `paid_interval`, `next_interval`, `debt`, `kept` and `is_restated`, as the level of
  -- limit/token_bucket.c has them, and returns burst and capacity.
  local function reckon(state, take, is_all)
    local interval = math.ceil(take.length / math.max(take.limit, 1))
    local kept = math.max(state.stamp - run.now, 0)
    local is_slower = kept > 0 and state.interval < interval
    local burst, capacity = set_interval(state, take, is_slower and state.interval or interval)
    local is_restated = false

    if kept > 0 and state.interval > interval then
      kept = restated(kept, state.interval, interval)
      is_restated = true
    end
    state.debt = kept
    if kept > capacity and not is_all then
      local most = most_debt(take, burst, capacity, state.paid_interval)

      if kept <= most + JITTER then
        state.debt = math.min(kept, most)
      elseif kept > math.max(most, take.length) + JITTER then
        kept, state.debt = most, most
        is_restated = true
      end
    end
    state.next_interval, state.kept, state.is_restated = interval, kept, is_restated
    return burst, capacity
  end

  local function debt_after(state, hits)
    return math.min(state.debt + math.min(hits * state.paid_interval, DEBT_MAX), DEBT_MAX)
  end

  local function wait_when_over(state, take, hits, is_all, burst, capacity)
    local wanted = burst > 0 and state.paid_interval or 0
    local wait = debt_after(state, run.after_charge(true, hits, is_all)) + wanted - capacity

    return wait > 0 and wait or run.after_reset_at_once(take, true)
  end

  local function verdict(state, take, hits, is_all, burst, capacity)
    local interval = state.paid_interval
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

  -- Makes the state what is charged, when something is.
  local function judge(state, take, hits, is_all)
    local burst, capacity = reckon(state, take, is_all)
    local remains, reset = verdict(state, take, hits, is_all, burst, capacity)
    local interval = state.next_interval

    if interval == state.paid_interval or hits == 0 or (remains == run.over and not is_all) then
      return remains, reset
    end
    state.debt = restated(state.debt, state.paid_interval, interval)
    return verdict(state, take, hits, is_all, set_interval(state, take, interval))
  end

  local function put(state, debt)
    state.stamp, state.interval, state.is_changed = run.now + debt, state.paid_interval, true
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
      state.debt = math.max(state.kept - math.min(hits * state.paid_interval, DEBT_MAX), 0)
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
