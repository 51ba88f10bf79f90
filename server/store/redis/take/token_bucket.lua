-- SPDX-License-Identifier: Apache-2.0
-- A token bucket: '<Bddd' of its kind, the stamp, the interval it was reckoned by, the hits that may
-- be owed. A take has its burst behind it.
if kinds[4] then
  local DEBT_MAX = 4503599627370496
  local JITTER = 500000

  -- Behind `is_changed` is the level of limit/token_bucket.c, by the take that was judged last.
  local function decode(text)
    local number, stamp, interval, owed = 4, 0, 1, 0

    if text then
      if #text ~= 25 then
        return nil
      end
      number, stamp, interval, owed = struct.unpack('<Bddd', text)
    end
    if number ~= 4 or not (run.is_count(stamp) and run.is_count(interval) and interval > 0 and
      run.is_count(owed)) then
      return nil
    end
    return {
      stamp = stamp,
      interval = interval,
      owed = owed,
      stored_expiry = stamp,
      is_changed = false,
      paid_interval = 0,
      next_interval = 0,
      burst = 0,
      capacity = 0,
      debt = 0,
      kept = 0,
      unpaid = 0,
      still_owed = 0,
      is_restated = false,
    }
  end

  local function set_interval(state, take, interval)
    local burst = take.limit > 0 and take.a or 0
    local capacity = burst * interval

    if capacity >= DEBT_MAX then
      burst = math.floor(DEBT_MAX / interval)
      capacity = burst * interval
    end
    state.paid_interval, state.burst, state.capacity = interval, burst, capacity
  end

  local function restated(debt, from, to)
    return math.min(run.muldiv_up(debt, to, from), DEBT_MAX)
  end

  local function reckon(state, take, is_all)
    local former, interval = state.interval, math.ceil(take.length / math.max(take.limit, 1))
    local kept, owed = math.max(state.stamp - run.now, 0), state.owed
    local is_restated = kept > 0 and former > interval

    set_interval(state, take, kept > 0 and former < interval and former or interval)
    state.unpaid = 0
    if is_restated then
      state.unpaid = kept
      kept = restated(kept, former, interval)
    end
    state.debt = kept
    if kept > state.capacity then
      local hits = math.max(owed, state.burst)
      local most = math.min(hits * state.paid_interval, DEBT_MAX)

      if kept > most + JITTER then
        kept, state.debt, state.unpaid, owed = most, most, 0, hits
        is_restated = true
      elseif not is_all and kept > most then
        state.debt = most
      end
    end
    state.next_interval, state.kept, state.still_owed, state.is_restated = interval, kept, owed, is_restated
  end

  local function debt_after(state, hits)
    return math.min(state.debt + math.min(hits * state.paid_interval, DEBT_MAX), DEBT_MAX)
  end

  local function wait_when_over(state, take, hits, is_all)
    local interval = state.paid_interval
    local wanted = state.burst > 0 and interval or 0
    local wait = debt_after(state, is_all and hits or 0) + wanted - state.capacity

    return wait > 0 and wait or run.after_reset_at_once(take, true)
  end

  -- After a look nothing is written down, so what is unpaid is paid as the state has it.
  local function verdict(state, take, hits, is_all)
    local interval, capacity, debt = state.paid_interval, state.capacity, state.debt
    local room = math.max(capacity - debt, 0)
    local fit = math.floor(room / interval)
    local is_over = debt > capacity or hits > fit
    local reset = interval - (room - fit * interval)

    if hits == 0 and state.unpaid > 0 and (is_over or debt > 0) then
      reset = state.unpaid - (state.burst - (is_over and 0 or fit) - 1) * state.interval
    elseif is_over then
      reset = wait_when_over(state, take, hits, is_all)
    elseif hits == 0 and debt == 0 then
      reset = 0
    end
    return is_over and run.over or fit - hits, reset
  end

  -- Makes the state what is charged, when something is.
  local function judge(state, take, hits, is_all)
    reckon(state, take, is_all)

    local remains, reset = verdict(state, take, hits, is_all)
    local interval = state.next_interval

    if interval == state.paid_interval or hits == 0 or (remains == run.over and not is_all) then
      return remains, reset
    end
    state.debt = restated(state.debt, state.paid_interval, interval)
    set_interval(state, take, interval)
    return verdict(state, take, hits, is_all)
  end

  local function put(state, debt, owed)
    state.stamp, state.interval, state.owed = run.now + debt, state.paid_interval, owed
    state.is_changed = true
  end

  local function add(state, _, hits)
    local debt = debt_after(state, hits)

    put(state, debt, debt <= state.capacity and state.burst or math.ceil(debt / state.paid_interval))
  end

  local function refuse(state)
    if state.is_restated then
      put(state, state.kept, state.still_owed)
    end
  end

  local function give(state, take, hits, is_all)
    reckon(state, take, is_all)
    if hits > 0 and state.kept > 0 then
      state.debt = math.max(state.kept - math.min(hits * state.paid_interval, DEBT_MAX), 0)
      put(state, state.debt, state.still_owed)
      state.unpaid = 0
    end
    return verdict(state, take, 0, is_all)
  end

  local function encode(state)
    return struct.pack('<Bddd', 4, state.stamp, state.interval, state.owed), state.stamp
  end

  kinds[4] = {
    decode = decode,
    judge = judge,
    add = add,
    refuse = refuse,
    give = give,
    encode = encode,
  }
end
