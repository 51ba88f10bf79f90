-- SPDX-License-Identifier: Apache-2.0
-- A sliding window: '<Bddd' of its kind, when it expires, the hits of the window before and of the
-- current one.
if kinds[1] then
  local function decode(text, take)
    local length = take.length
    local elapsed = run.now % length
    local state = {
      expiry = run.now - elapsed + 2 * length,
      previous = 0,
      current = 0,
      left = length - elapsed, -- of the current window
      late = 0, -- how far the time is before its start
      stored_expiry = 0,
      is_changed = false,
    }

    if text == false then
      return state
    end
    if #text ~= 25 then
      return nil
    end

    local number, expiry, previous, current = struct.unpack('<Bddd', text)

    if number ~= 1 or not (run.is_count(expiry) and run.is_count(previous) and run.is_count(current)) then
      return nil
    end
    state.stored_expiry = expiry
    elapsed = run.now - (expiry - 2 * length)
    if elapsed < -length then
      run.n_restarted = run.n_restarted + 1
    elseif elapsed < length then
      state.expiry, state.previous, state.current = expiry, previous, current
      state.left, state.late = length - math.max(elapsed, 0), math.max(-elapsed, 0)
    elseif elapsed < 2 * length then
      state.expiry, state.previous = expiry + length, current
      state.left = 2 * length - elapsed
    end
    return state
  end

  -- How long until the count is no more than `target`, with `current` hits in this window.
  local function wait_for(state, take, current, target)
    local fading, weight, left = state.previous, target - current, state.left

    if current > target then
      fading, weight, left = current, target, left + take.length
    end
    if fading <= weight then
      return 0
    end

    local last = run.muldiv(weight, take.length, fading)

    return last < left and state.late + left - last or 0
  end

  local function judge(state, take, hits, is_all)
    local used = state.current

    if state.previous > 0 then
      used = math.min(used + run.muldiv_up(state.previous, state.left, take.length), run.most)
    end

    local is_over = used + hits > take.limit
    local charged = run.after_charge(is_over, hits, is_all)
    local after = math.min(used + charged, run.most)
    local target = run.after_target(take, is_over, after)
    local reset = run.after_reset_at_once(take, is_over)

    if after > target then
      reset = wait_for(state, take, math.min(state.current + charged, run.most), target)
    end
    return is_over and run.over or take.limit - after, reset
  end

  local function add(state, _, hits)
    state.current = math.min(state.current + hits, run.most)
    state.is_changed = true
  end

  local function give(state, take, hits, is_all)
    local from_current = math.min(hits, state.current)
    local from_previous = math.min(hits - from_current, state.previous)

    state.current = state.current - from_current
    state.previous = state.previous - from_previous
    state.is_changed = state.is_changed or from_current + from_previous > 0
    return judge(state, take, 0, is_all)
  end

  local function encode(state)
    return struct.pack('<Bddd', 1, state.expiry, state.previous, state.current), state.expiry
  end

  kinds[1] = {
    decode = decode,
    judge = judge,
    add = add,
    give = give,
    encode = encode,
  }
end
