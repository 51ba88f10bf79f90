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

  local function enforce(take, requests)
    take.limit = requests
    if is_bucket then
      take.burst = take.burst or take.a
      take.a = take.burst
      if requests < take.requests then
        take.a = math.max(run.muldiv(take.a, requests, take.requests), 1)
      end
    end
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
    enforce(take, climbed >= take.warm_up and take.requests or
      take.warm_up_start + run.muldiv(take.requests - take.warm_up_start, climbed, take.warm_up))
  end

  -- How long until the limit is `requests`, from when the climb is `climbed` long.
  local function wait_for_limit(take, requests, climbed)
    local steps = requests - take.warm_up_start

    if steps <= 0 then
      return 0
    end
    return math.max(run.muldiv_up(steps, take.warm_up, take.requests - take.warm_up_start) - climbed, 0)
  end

  -- How long until a hit passes, were the limit `requests` from `from` on; a bucket is asked what it
  -- will say then.
  local function wait_at(state, take, charge, requests, from, is_all)
    local now = run.now

    enforce(take, requests)
    run.now = now + (is_bucket and from or 0)

    local remains, reset = inner.judge(state, take, charge, is_all)
    local wait = remains <= 0 and reset or 0

    run.now = now
    return is_bucket and from + wait or math.max(wait, from)
  end

  -- How long until a hit passes, as limit/warm_up.c has it: `after` is what the inner state will be,
  -- but for `charge`, and `last` the last hit.
  local function true_wait(state, take, after, charge, last, is_all)
    local limit, burst = take.limit, take.a
    local climbed = math.max(run.now - state.new_since, 0)
    local idle = last + take.warm_up - run.now
    local low, high = limit, take.requests

    while low < high do
      local middle = low + math.floor((high - low) / 2)

      if wait_at(after, take, charge, middle, wait_for_limit(take, middle, climbed), is_all) <
        wait_for_limit(take, middle + 1, climbed) then
        high = middle
      else
        low = middle + 1
      end
    end

    local wait = wait_at(after, take, charge, high, wait_for_limit(take, high, climbed), is_all)

    if wait >= idle then
      wait = wait_at(after, take, charge, take.warm_up_start, idle, is_all)
    end
    take.limit, take.a = limit, burst
    return math.max(wait, 1)
  end

  local function wait_when_over(state, take, hits, is_all)
    local is_later = hits > 0 and run.now > state.last
    local last = (state.new_since ~= state.since or is_later) and run.now or state.last
    local now = state.inner

    if not is_bucket then
      return true_wait(state, take, now, is_all and hits or 0, last, is_all)
    end

    local after = {stamp = now.stamp, interval = now.interval, owed = now.owed, is_changed = false}

    if hits > 0 then
      inner.judge(after, take, hits, is_all)
      if is_all then
        inner.add(after, take, hits)
      else
        inner.refuse(after, take)
      end
    end
    return true_wait(state, take, after, 0, last, is_all)
  end

  local function judge(state, take, hits, is_all)
    climb(state, take)

    local remains, reset = inner.judge(state.inner, take, hits, is_all)

    if remains == run.over and not is_fixed and take.requests > 0 and run.tells_wait then
      reset = wait_when_over(state, take, hits, is_all)
    end
    return remains, reset
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
    decode = decode,
    judge = judge,
    add = add,
    refuse = refuse,
    give = give,
    encode = encode,
  }
end

if warms_up then
  for i = 1, #takes do
    local number = takes[i].kind

    if number >= 128 and not kinds[number] then
      kinds[number] = make_warm_up(number - 128, kinds[number - 128])
    end
  end
end
