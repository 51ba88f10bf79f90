-- SPDX-License-Identifier: Apache-2.0
-- Sliding buckets: '<BBI2ddd' of the kind, the width of a count in bytes, n, when the newest bucket
-- is forgotten, the sum, and how long a bucket lasts; then the counts from the oldest that has hits
-- to the newest. A take has its n behind it. Counts are as wide as the largest asks for.
if kinds[2] then
  local HEAD_LENGTH = 28
  local FORMATS = {[2] = '<I2', [4] = '<I4', [8] = '<d'}

  -- Nothing that was counted matters: with `used` in one bucket that is now's.
  local function begin(state, n, length, used)
    local bucket = math.ceil(length / n)

    state.n, state.bucket, state.used, state.newest = n, bucket, used, used
    state.start = run.now - run.now % bucket
    state.older, state.width = '', 2
  end

  -- The counts before the newest are a string, `older`: few takes need more than its first.
  local function parse(text)
    local size = #text
    local number, width, n, expiry, used, bucket = struct.unpack('<BBI2ddd', text)
    local format = FORMATS[width]
    local span = format and (size - HEAD_LENGTH) / width

    if number ~= 2 or not format or span < 1 or span > n + 1 or span % 1 ~= 0 or
      not (run.is_count(expiry) and run.is_count(used) and run.is_count(bucket) and bucket > 0) then
      return nil
    end
    return {
      n = n,
      bucket = bucket,
      used = used,
      start = expiry - (n + 1) * bucket, -- of the newest
      newest = struct.unpack(format, text, size - width + 1),
      older = text:sub(HEAD_LENGTH + 1, size - width),
      width = width,
      stored_expiry = expiry,
      is_changed = false,
      is_new = false,
    }
  end

  -- Forgets the oldest that are `steps` too old, and those that are empty.
  local function forget(state, steps)
    local older, width = state.older, state.width
    local format = FORMATS[width]
    local n_older = #older / width
    local n_gone = 0

    while n_gone < n_older do
      local hits = struct.unpack(format, older, n_gone * width + 1)

      if hits > 0 and n_older - n_gone + steps <= state.n then
        break
      end
      state.used = state.used - hits
      n_gone = n_gone + 1
    end
    if n_gone > 0 then
      state.older = older:sub(n_gone * width + 1)
    end
  end

  local function step(state, steps)
    forget(state, steps)
    if steps > 0 then
      if state.used > 0 then
        state.older = state.older .. struct.pack(FORMATS[state.width], state.newest) ..
          ('\0'):rep((steps - 1) * state.width)
      end
      state.newest = 0
      state.start = state.start + steps * state.bucket
    end
  end

  local function is_forgotten(state, take)
    local ahead = state.start - run.now

    if ahead > take.length then
      run.n_restarted = run.n_restarted + 1
      return true
    end
    return ahead <= -(state.n + 1) * state.bucket
  end

  -- A state that is new is laid out by the limit of each take that looks at it.
  local function decode(text, take)

    if text == false then
      return {is_new = true, stored_expiry = 0, is_changed = false}
    end
    if #text < HEAD_LENGTH + 2 then
      return nil
    end

    local state = parse(text)

    if state and is_forgotten(state, take) then
      return {is_new = true, stored_expiry = state.stored_expiry, is_changed = false}
    end
    if state then
      step(state, math.max(math.floor((run.now - state.start) / state.bucket), 0))
    end
    return state
  end

  -- How long until `n` hits are forgotten, of those that were counted, and then of new ones.
  local function wait_for(state, n)
    local age = 0 -- of the bucket that the last of them is in

    if n <= state.used then
      local older, width = state.older, state.width
      local format = FORMATS[width]
      local at, left = 1, n

      age = #older / width
      while at < #older do
        left = left - struct.unpack(format, older, at)
        if left <= 0 then
          break
        end
        at, age = at + width, age - 1
      end
    end
    return state.start + (state.n + 1 - age) * state.bucket - run.now
  end

  -- How long until all is forgotten that counts as of now: what a charge makes of another number of
  -- buckets.
  local function wait_for_all(take)
    local bucket = math.ceil(take.length / take.a)

    return (take.a + 1) * bucket - run.now % bucket
  end

  local function judge(state, take, hits, is_all)
    if state.is_new then
      begin(state, take.a, take.length, 0)
    end

    local used = state.used
    local is_over = used + hits > take.limit
    local charged = run.after_charge(is_over, hits, is_all)
    local after = math.min(used + charged, run.most)
    local target = run.after_target(take, is_over, after)
    local reset = run.after_reset_at_once(take, is_over)

    if after > target then
      reset = state.n ~= take.a and charged > 0 and wait_for_all(take) or wait_for(state, after - target)
    end
    return is_over and run.over or take.limit - after, reset
  end

  -- By the limit in force.
  local function settle(state, take)
    if state.n ~= take.a then
      begin(state, take.a, take.length, state.used)
    end
    state.is_new, state.is_changed = false, true
  end

  local function add(state, take, hits)
    settle(state, take)

    local used = math.min(state.used + hits, run.most)

    state.newest = state.newest + (used - state.used)
    state.used = used
  end

  local function counts_of(state)
    local format, counts = FORMATS[state.width], {}

    for at = 1, #state.older, state.width do
      counts[#counts + 1] = struct.unpack(format, state.older, at)
    end
    return counts
  end

  local function lay(state, counts, width)
    for i = 1, #counts do
      counts[i] = struct.pack(FORMATS[width], counts[i])
    end
    state.older, state.width = table.concat(counts), width
  end

  -- The newest bucket that has any gives first.
  local function give(state, take, hits, is_all)
    if not state.is_new and hits > 0 and state.used > 0 then
      settle(state, take)

      local left = math.min(hits, state.used)
      local given = math.min(left, state.newest)

      state.used = state.used - left
      state.newest = state.newest - given
      left = left - given
      if left > 0 then
        local counts = counts_of(state)

        for i = #counts, 1, -1 do
          given = math.min(left, counts[i])
          counts[i] = counts[i] - given
          left = left - given
        end
        lay(state, counts, state.width)
      end
    end
    return judge(state, take, 0, is_all)
  end

  local function encode(state)
    local width = state.newest > 4294967295 and 8 or state.newest > 65535 and 4 or 2
    local expiry = state.start + (state.n + 1) * state.bucket

    if width > state.width then
      lay(state, counts_of(state), width)
    end
    width = state.width
    return struct.pack('<BBI2ddd', 2, width, state.n, expiry, state.used, state.bucket) .. state.older ..
      struct.pack(FORMATS[width], state.newest), expiry
  end

  kinds[2] = {
    decode = decode,
    judge = judge,
    add = add,
    give = give,
    encode = encode,
  }
end
