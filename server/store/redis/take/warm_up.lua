-- SPDX-License-Identifier: Apache-2.0
-- What warms up: '<Bdd' of the number of the kind and 128, when the climb began, the last hit; then
-- the text of the kind, none while all hits were refused. A take has the length of the climb behind
-- it, and the limit that it begins at.
local function make_warm_up(number, inner)
  local HEAD_LENGTH = 17
  local is_fixed, is_bucket = number >= 5, number == 4

  local function decode(text, take)
    local stored, since, last, inner_text = number + 128, 0, 0, false

    if text and #text < HEAD_LENGTH then
      return nil
    end
    if text then
      stored, since, last = struct.unpack('<Bdd', text)
      inner_text = #text > HEAD_LENGTH and text:sub(HEAD_LENGTH + 1)
    end
    if stored ~= number + 128 or not (run.is_count(since) and run.is_count(last)) then
      return nil
    end

    local state = inner.decode(inner_text, take)

    return state and {
      inner = state,
      text = inner_text or '',
      since = since,
      last = last,
      is_new = not text,
      new_since = 0,
      idle = 0, -- when it will have been idle for a climb
      is_changed = false,
    }
  end

  -- Sets the limit of `take` to what is enforced. A fixed window is neither idle nor raised before
  -- it ends. A last hit more than a window ahead is of another time.
  local function climb(state, take)
    local ending = state.inner.stored_expiry
    local is_begun = not state.is_new and state.last - run.now <= take.length and
      (run.now - state.last < take.warm_up or (is_fixed and ending > run.now))
    local since = is_begun and state.since or run.now
    local climbed = math.max((is_fixed and inner.start_of(take, ending) or run.now) - since, 0)

    state.new_since = since
    take.limit = take.requests
    if climbed < take.warm_up then
      take.limit = take.warm_up_start +
        run.muldiv(take.requests - take.warm_up_start, climbed, take.warm_up)
    end
    if is_bucket then
      take.burst_most = take.burst_most or take.a
      take.a = take.burst_most
      if take.limit < take.requests then
        take.a = math.max(run.muldiv(take.a, take.limit, take.requests), 1)
      end
    end
  end

  local function judge(state, take, hits, is_all)
    climb(state, take)
    return inner.judge(state.inner, take, hits, is_all)
  end

  -- Any hit ends idleness.
  local function note_hit(state, take)
    if state.new_since ~= state.since or run.now > state.last then
      state.last = run.now
    end
    state.since, state.is_new, state.is_changed = state.new_since, false, true
    state.idle = state.last + take.warm_up
  end

  local function add(state, take, hits, is_all)
    inner.add(state.inner, take, hits, is_all)
    note_hit(state, take)
  end

  local function refuse(state, take)
    if inner.refuse then
      inner.refuse(state.inner, take)
    end
    note_hit(state, take)
  end

  local function give(state, take, hits, is_all)
    climb(state, take)

    local remains, reset = inner.give(state.inner, take, hits, is_all)

    state.idle = state.last + take.warm_up
    state.is_changed = state.is_changed or state.inner.is_changed
    return remains, reset
  end

  local function encode(state)
    local text, expiry = state.text, state.inner.stored_expiry

    if state.inner.is_changed then
      text, expiry = inner.encode(state.inner)
    end
    return struct.pack('<Bdd', number + 128, state.since, state.last) .. text, math.max(expiry, state.idle)
  end

  return {
    n_parameters = inner.n_parameters,
    decode = decode,
    judge = judge,
    add = add,
    refuse = refuse,
    give = give,
    encode = encode,
  }
end
