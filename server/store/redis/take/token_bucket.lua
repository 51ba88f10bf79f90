-- SPDX-License-Identifier: Apache-2.0
-- A token bucket: '<Bddd' of its kind, the stamp, the interval it was reckoned by, the hits that may
-- be owed. A take has its burst behind it.
makers[4] = function()
  local DEBT_MAX = 4503599627370496
  local JITTER = 500000

  local function decode(text)
    local state = {stamp = 0, interval = 1, owed = 0, stored_expiry = 0, is_changed = false}

    if text == false then
      return state
    end
    if #text ~= 25 then
      return nil
    end

    local number, stamp, interval, owed = struct.unpack('<Bddd', text)

    if number ~= 4 or not (run.is_count(stamp) and run.is_count(interval) and interval > 0 and
      run.is_count(owed)) then
      return nil
    end
    state.stamp, state.interval, state.owed, state.stored_expiry = stamp, interval, owed, stamp
    return state
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

  -- Sets `paid_interval`, `next_interval`, `debt`, `kept`, `unpaid`, `still_owed` and
  -- `is_restated`, as the level of limit/token_bucket.c has them, and returns burst and capacity.
  local function reckon(state, take, is_all)
    local interval = math.ceil(take.length / math.max(take.limit, 1))
    local kept = math.max(state.stamp - run.now, 0)
    local is_slower = kept > 0 and state.interval < interval
    local burst, capacity = set_interval(state, take, is_slower and state.interval or interval)
    local owed, is_restated = state.owed, false

    state.unpaid = 0
    if kept > 0 and state.interval > interval then
      state.unpaid = kept
      kept = restated(kept, state.interval, interval)
      is_restated = true
    end
    state.debt = kept
    if kept > capacity then
      local hits = math.max(owed, burst)
      local most = math.min(hits * state.paid_interval, DEBT_MAX)

      if kept > most + JITTER then
        kept, state.debt, state.unpaid, owed = most, most, 0, hits
        is_restated = true
      elseif not is_all and kept > most then
        state.debt = most
      end
    end
    state.next_interval, state.kept, state.still_owed, state.is_restated = interval, kept, owed, is_restated
    return burst, capacity
  end

  local function debt_after(state, hits)
    return math.min(state.debt + math.min(hits * state.paid_interval, DEBT_MAX), DEBT_MAX)
  end

  -- When nothing is written down, and `fit` hits fit.
  local function wait_of_look(state, burst, fit)
    return state.unpaid - (burst - fit - 1) * state.interval
  end

  local function wait_when_over(state, take, hits, is_all, burst, capacity)
    local wanted = burst > 0 and state.paid_interval or 0
    local wait = debt_after(state, run.after_charge(true, hits, is_all)) + wanted - capacity

    if hits == 0 and state.unpaid > 0 then
      return wait_of_look(state, burst, 0)
    end
    return wait > 0 and wait or run.after_reset_at_once(take, true)
  end

  local function verdict(state, take, hits, is_all, burst, capacity)
    local interval = state.paid_interval
    local room = math.max(capacity - state.debt, 0)
    local fit = math.floor(room / interval)

    if state.debt > capacity or hits > fit then
      return run.over, wait_when_over(state, take, hits, is_all, burst, capacity)
    end
    if hits == 0 and state.debt == 0 then
      return fit, 0
    end
    if hits == 0 and state.unpaid > 0 then
      return fit, wait_of_look(state, burst, fit)
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

  local function put(state, debt, owed)
    state.stamp, state.interval, state.owed = run.now + debt, state.paid_interval, owed
    state.is_changed = true
  end

  local function add(state, take, hits)
    local debt, interval = debt_after(state, hits), state.paid_interval
    local burst, capacity = set_interval(state, take, interval)

    put(state, debt, debt <= capacity and burst or math.ceil(debt / interval))
  end

  local function refuse(state)
    if state.is_restated then
      put(state, state.kept, state.still_owed)
    end
  end

  local function give(state, take, hits, is_all)
    local burst, capacity = reckon(state, take, is_all)

    if hits > 0 and state.kept > 0 then
      state.debt = math.max(state.kept - math.min(hits * state.paid_interval, DEBT_MAX), 0)
      put(state, state.debt, state.still_owed)
      state.unpaid = 0
    end
    return verdict(state, take, 0, is_all, burst, capacity)
  end

  local function encode(state)
    return struct.pack('<Bddd', 4, state.stamp, state.interval, state.owed), state.stamp
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
