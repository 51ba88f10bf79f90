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

  -- How long until `wanted` hits fit, were the limit `requests` from `from` on, as limit/climb.c
  -- has it: `left` is the inner state.
  local function wait_for_hits(left, take, requests, wanted, from, is_all)
    enforce(take, requests)
    if not is_bucket then
      take.limit = requests - (wanted - 1)

      local fit, reset = inner.judge(left, take, 0, is_all)

      return (fit > 0 or reset < from) and from or reset
    end

    local now = run.now

    run.now = now + from

    local fit, reset = inner.judge(left, take, 0, is_all)

    run.now = now
    fit = math.max(fit, 0)
    return fit >= wanted and from or from + reset + (wanted - 1 - fit) * left.interval
  end

  local function wait_for_one(state, take, left, climbs, idle, is_all)
    local climbed = math.max(run.now - state.new_since, 0)
    local low, high = take.limit, climbs and take.requests or take.limit

    while low < high do
      local middle = low + math.floor((high - low) / 2)
      local from = wait_for_limit(take, middle, climbed)
      local wait = wait_for_hits(left, take, middle, 1, from, is_all)

      if wait == from or wait < wait_for_limit(take, middle + 1, climbed) then
        high = middle
      else
        low = middle + 1
      end
    end

    local from = climbs and wait_for_limit(take, high, climbed) or 0
    local wait = wait_for_hits(left, take, high, 1, from, is_all)

    if climbs and wait >= idle then
      wait = wait_for_hits(left, take, take.warm_up_start, 1, idle, is_all)
    end
    return math.max(wait, 1)
  end

  -- The limit, higher than that of the climb, at which a hit more fits.
  local function next_step(take)
    if take.limit == take.requests or (is_bucket and take.a == take.burst) then
      return nil
    end
    return is_bucket and run.muldiv_up(take.a + 1, take.requests, take.burst) or take.limit + 1
  end

  local function wait_when_cold(take, left, wanted, idle, is_all)
    enforce(take, take.warm_up_start)
    wanted = math.min(wanted, is_bucket and take.a or take.limit)
    return wait_for_hits(left, take, take.warm_up_start, wanted, idle, is_all)
  end

  local function wait_for_more(state, take, left, climbs, idle, remains, reset, is_all)
    local step = climbs and next_step(take)
    local wait = reset

    if step then
      wait = wait_for_limit(take, step, math.max(run.now - state.new_since, 0))
      wait = reset > 0 and math.min(reset, wait) or wait
    end
    if not climbs or wait < idle then
      return wait
    end
    return reset > 0 and wait_when_cold(take, left, remains + 1, idle, is_all) or 0
  end

  -- The wait when `left` is the inner state and `last` the last hit, where the inner kind says
  -- `remains` and `reset`.
  local function wait_after(state, take, left, last, climbs, remains, reset, is_all)
    local limit, burst = take.limit, take.a
    local idle = last + take.warm_up - run.now

    if remains == run.over then
      reset = wait_for_one(state, take, left, climbs, idle, is_all)
    else
      reset = wait_for_more(state, take, left, climbs, idle, remains, reset, is_all)
    end
    take.limit, take.a = limit, burst
    return reset
  end

  local function wait_of_look(state, take, remains, reset, is_all)
    local begins = state.new_since ~= state.since

    return wait_after(state, take, state.inner, begins and run.now or state.last, not begins, remains, reset, is_all)
  end

  -- Hits that are refused leave a bucket mended.
  local function wait_when_refused(state, take, hits)
    local is_later = state.new_since ~= state.since or run.now > state.last
    local left = state.inner

    if is_bucket then
      left = {stamp = left.stamp, interval = left.interval, owed = left.owed, is_changed = false}
      inner.judge(left, take, hits, false)
      inner.refuse(left, take)
    end
    return wait_after(state, take, left, is_later and run.now or state.last, true, run.over, 0, false)
  end

  -- What would be charged is told its wait when it is.
  local function judge(state, take, hits, is_all)
    climb(state, take)

    local remains, reset = inner.judge(state.inner, take, hits, is_all)

    if is_fixed or take.requests == 0 or not run.tells_wait then
      return remains, reset
    end
    if hits == 0 then
      reset = wait_of_look(state, take, remains, reset, is_all)
    elseif remains == run.over and not is_all then
      reset = wait_when_refused(state, take, hits)
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

    local is_over = take.remains == run.over
    local is_on_top = not is_over and take.limit == take.requests and take.reset < take.warm_up

    if not is_fixed and take.requests > 0 and not is_on_top then
      take.reset = wait_after(state, take, state.inner, state.last, true, take.remains, take.reset, is_all)
    end
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

    if not is_fixed and take.requests > 0 then
      reset = select(2, judge(state, take, 0, is_all))
    end
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
