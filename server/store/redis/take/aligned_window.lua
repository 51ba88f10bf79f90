-- SPDX-License-Identifier: Apache-2.0
-- Fixed windows of other alignments: '<Bdd' of the kind, the end of the window, its hits. A take in
-- windows of the calendar has five ends behind it: of the two windows before the caller's, of that
-- one, and of the two after it. Its clock need not agree with this one.
--
-- By alignment differ: end_of(take), of a window that begins; goes_on(take, ending), whether it is not
-- of another time; start_of(take, ending), of the window that ends then, or when that is over, of one
-- that begins.
local function make_aligned_window(number, alignment)
  local function decode(text, take)
    local stored, ending, used = number, 0, 0

    if text and #text ~= 17 then
      return nil
    end
    if text then
      stored, ending, used = struct.unpack('<Bdd', text)
    end
    if stored ~= number or not (run.is_count(ending) and run.is_count(used)) then
      return nil
    end

    local stored_expiry = ending

    if ending <= run.now or not alignment.goes_on(take, ending) then
      run.n_restarted = run.n_restarted + (ending > run.now and 1 or 0)
      ending, used = alignment.end_of(take), 0
    end
    return {ending = ending, used = used, stored_expiry = stored_expiry, is_changed = false}
  end

  local function judge(state, take, hits)
    local remains = take.limit - (state.used + hits)
    local left = state.ending - run.now

    return remains < 0 and run.over or remains, alignment.is_calendar and left or math.min(left, take.length)
  end

  local function add(state, _, hits)
    state.used = math.min(state.used + hits, run.most)
    state.stored_expiry = state.ending
    state.is_changed = true
  end

  local function give(state, take, hits)
    state.is_changed = state.is_changed or (hits > 0 and state.used > 0)
    state.used = math.max(state.used - hits, 0)
    return judge(state, take, 0)
  end

  local function encode(state)
    return struct.pack('<Bdd', number, state.ending, state.used), state.ending
  end

  return {
    start_of = alignment.start_of,
    decode = decode,
    judge = judge,
    add = add,
    give = give,
    encode = encode,
  }
end

-- At the first hit after the last one ended.
if kinds[5] then
  kinds[5] = make_aligned_window(5, {
    is_calendar = false,
    end_of = function(take)
      return run.now + take.length
    end,
    goes_on = function(take, ending)
      return ending - run.now <= 2 * take.length
    end,
    start_of = function(take, ending)
      return ending <= run.now and run.now or ending - take.length
    end,
  })
end

-- The calendar's. By lengths, where the caller's clock is so far off that the ends do not do.
if kinds[6] then
  -- The end that comes after `time`.
  local function end_after(take, time)
    local ends = {take.a, take.b, take.c, take.d, take.e}

    for i = 1, 5 do
      if ends[i] > time then
        return ends[i]
      end
    end
    return take.e + (math.floor((time - take.e) / take.length) + 1) * take.length
  end

  kinds[6] = make_aligned_window(6, {
    is_calendar = true,
    end_of = function(take)
      return end_after(take, run.now)
    end,
    goes_on = function(take, ending)
      return ending - run.now <= take.length or ending <= end_after(take, end_after(take, run.now))
    end,
    start_of = function(take, ending)
      local ends = {take.a, take.b, take.c, take.d, take.e}
      local time = ending <= run.now and run.now or ending - 1

      for i = 5, 1, -1 do
        if ends[i] <= time then
          return i < 5 and ends[i] or ends[i] + math.floor((time - ends[i]) / take.length) * take.length
        end
      end
      return take.a - take.length
    end,
  })
end

-- At multiples of their length, as kind 0: for what has to be a string.
if kinds[7] then
  local function end_of(take)
    return run.now - run.now % take.length + take.length
  end

  kinds[7] = make_aligned_window(7, {
    is_calendar = false,
    end_of = end_of,
    goes_on = function(take, ending)
      return ending - end_of(take) <= take.length
    end,
    start_of = function(take, ending)
      return (ending <= run.now and end_of(take) or ending) - take.length
    end,
  })
end
