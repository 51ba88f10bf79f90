-- SPDX-License-Identifier: Apache-2.0
-- A token bucket: '<Bdd' of its kind, the stamp, the interval it was reckoned by. A take has its
-- burst behind it.
makers[4] = function()
  local DEBT_MAX = 4503599627370496
  local JITTER = 500000
  local kind = {n_parameters = 1}

  function kind.decode(text)
    local state = {stamp = 0, interval = 1, stored_expiry = 0, is_changed = false}

    if text == false then
      return state
    end
    if #text ~= 17 then
      return nil
    end

    local number, stamp, interval = unpack('<Bdd', text)

    if number ~= 4 or not (is_count(stamp) and is_count(interval) and interval > 0) then
      return nil
    end
    state.stamp, state.interval, state.stored_expiry = stamp, interval, stamp
    return state
  end

  -- The debt that takes explain: the capacity, or more where the limit is lower for now.
  local function most_debt(take, burst, capacity, interval)
    local most = max(take.a, take.burst_most)

    return most == burst and capacity or min(most * interval, DEBT_MAX)
  end

  -- Sets `new_interval`, `debt`, `kept` and `is_restated`, as limit/token_bucket.c has them, and
  -- returns burst and capacity.
  local function reckon(state, take, count)
    local interval = ceil(take.length / max(take.limit, 1))
    local burst = take.limit > 0 and take.a or 0
    local capacity = burst * interval
    local kept = max(state.stamp - now, 0)
    local is_restated = false

    if capacity >= DEBT_MAX then
      burst = floor(DEBT_MAX / interval)
      capacity = burst * interval
    end
    if kept > 0 and interval ~= state.interval then
      kept = min(muldiv_up(kept, interval, state.interval), DEBT_MAX)
      is_restated = true
    end
    state.debt = kept
    if kept > capacity and count ~= COUNT_ALL then
      local most = most_debt(take, burst, capacity, interval)

      state.debt = min(kept, most)
      if kept > most + JITTER then
        kept = most
        is_restated = true
      end
    end
    state.new_interval, state.kept, state.is_restated = interval, kept, is_restated
    return burst, capacity
  end

  local function debt_after(state, hits)
    return min(state.debt + min(hits * state.new_interval, DEBT_MAX), DEBT_MAX)
  end

  local function wait_when_over(state, take, hits, count, burst, capacity)
    local wanted = min((hits == 0 or count == COUNT_ALL) and 1 or hits, burst)
    local debt = debt_after(state, after_charge(true, hits, count))
    local wait = debt - capacity + wanted * state.new_interval

    return wait > 0 and wait or take.length
  end

  local function verdict(state, take, hits, count, burst, capacity)
    local interval = state.new_interval
    local room = max(capacity - state.debt, 0)
    local fit = floor(room / interval)

    if state.debt > capacity or hits > fit then
      return OVER, wait_when_over(state, take, hits, count, burst, capacity)
    end
    if state.debt == 0 and hits == 0 then
      return fit, 0
    end
    return fit - hits, interval - (room - fit * interval)
  end

  function kind.judge(state, take, hits, count)
    return verdict(state, take, hits, count, reckon(state, take, count))
  end

  local function put(state, debt)
    state.stamp, state.interval, state.is_changed = now + debt, state.new_interval, true
  end

  function kind.add(state, _, hits)
    put(state, debt_after(state, hits))
  end

  function kind.refuse(state)
    if state.is_restated then
      put(state, state.kept)
    end
  end

  function kind.give(state, take, hits, count)
    local burst, capacity = reckon(state, take, count)

    if hits > 0 and state.kept > 0 then
      state.debt = max(state.kept - min(hits * state.new_interval, DEBT_MAX), 0)
      put(state, state.debt)
    end
    return verdict(state, take, 0, count, burst, capacity)
  end

  function kind.encode(state)
    return pack('<Bdd', 4, state.stamp, state.interval), state.stamp
  end

  return kind
end
