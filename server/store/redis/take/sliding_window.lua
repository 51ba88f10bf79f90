-- SPDX-License-Identifier: Apache-2.0
-- A sliding window: '<Bddd' of its kind, when it expires, the hits of the window before and of the
-- current one.
makers[1] = function()
  local kind = {n_parameters = 0}

  function kind.decode(text, take)
    local length = take.length
    local elapsed = now % length
    local state = {
      expiry = now - elapsed + 2 * length,
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

    local number, expiry, previous, current = unpack('<Bddd', text)

    if number ~= 1 or not (is_count(expiry) and is_count(previous) and is_count(current)) then
      return nil
    end
    state.stored_expiry = expiry
    elapsed = now - (expiry - 2 * length)
    if elapsed < -length then
      n_restarted = n_restarted + 1
    elseif elapsed < length then
      state.expiry, state.previous, state.current = expiry, previous, current
      state.left, state.late = length - max(elapsed, 0), max(-elapsed, 0)
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

    local last = muldiv(weight, take.length, fading)

    return last < left and state.late + left - last or 0
  end

  function kind.judge(state, take, hits, count)
    local used = state.current

    if state.previous > 0 then
      used = min(used + muldiv_up(state.previous, state.left, take.length), COUNT_MAX)
    end

    local is_over = used + hits > take.limit
    local charged = after_charge(is_over, hits, count)
    local after = min(used + charged, COUNT_MAX)
    local target = after_target(take, is_over, hits, count, after)
    local reset = is_over and take.length or 0

    if after > target then
      reset = wait_for(state, take, min(state.current + charged, COUNT_MAX), target)
    end
    return is_over and OVER or take.limit - after, reset
  end

  function kind.add(state, _, hits)
    state.current = min(state.current + hits, COUNT_MAX)
    state.is_changed = true
  end

  function kind.give(state, take, hits, count)
    local from_current = min(hits, state.current)
    local from_previous = min(hits - from_current, state.previous)

    state.current = state.current - from_current
    state.previous = state.previous - from_previous
    state.is_changed = state.is_changed or from_current + from_previous > 0
    return kind.judge(state, take, 0, count)
  end

  function kind.encode(state)
    return pack('<Bddd', 1, state.expiry, state.previous, state.current), state.expiry
  end

  return kind
end
