-- SPDX-License-Identifier: Apache-2.0
-- A sliding log: '<Bdd' of its kind, when it expires, and the sum; then '<dd' an entry: stamp and
-- hits, from the oldest to the newest.
if kinds[3] then
  local HEAD_LENGTH, ENTRY_LENGTH = 17, 16
  local MOST_ENTRIES = 1000

  -- The entries before the newest stay in `text`, from `from` to `to`, and behind it in `added`: few
  -- takes need more than the first, and long strings cost when they are made.
  local function parse(text)
    local size = #text
    local number, expiry, used = struct.unpack('<Bdd', text)
    local n = (size - HEAD_LENGTH) / ENTRY_LENGTH

    if number ~= 3 or n % 1 ~= 0 or not (run.is_count(expiry) and run.is_count(used)) then
      return nil
    end

    local stamp, hits = 0, 0

    if n > 0 then
      stamp, hits = struct.unpack('<dd', text, size - ENTRY_LENGTH + 1)
    end
    return {
      expiry = expiry,
      stored_expiry = expiry,
      used = used,
      n = n,
      stamp = stamp, -- of the newest
      hits = hits,
      text = text,
      from = HEAD_LENGTH + 1,
      to = math.max(size - ENTRY_LENGTH, HEAD_LENGTH),
      added = '',
      is_changed = false,
    }
  end

  local function clear(state)
    state.n, state.used, state.stamp, state.hits = 0, 0, 0, 0
    state.text, state.from, state.to, state.added = '', 1, 0, ''
  end

  -- The newest entry has not expired.
  local function forget(state, length)
    while state.from < state.to do
      local stamp, hits = struct.unpack('<dd', state.text, state.from)

      if stamp > run.now - length then
        break
      end
      state.used, state.n = state.used - hits, state.n - 1
      state.from = state.from + ENTRY_LENGTH
    end
  end

  -- Stamp and hits of the `i`-th of the entries before the newest.
  local function older_at(state, i)
    local at = state.from + (i - 1) * ENTRY_LENGTH

    if at < state.to then
      return struct.unpack('<dd', state.text, at)
    end
    return struct.unpack('<dd', state.added, at - state.to)
  end

  local function decode(text, take)
    local length = take.length

    if text == false then
      local state = {expiry = 0, stored_expiry = 0, is_changed = false}

      clear(state)
      return state
    end
    if #text < HEAD_LENGTH then
      return nil
    end

    local state = parse(text)

    if not state then
      return nil
    end
    if state.expiry > run.now and state.expiry - run.now <= 2 * length then
      forget(state, length)
      return state
    end
    if state.expiry > run.now then
      run.n_restarted = run.n_restarted + 1
    end
    clear(state)
    return state
  end

  -- Entries that there may be; there are more while a limit that was lowered still has those of the
  -- former.
  local function most_entries(take)
    return math.max(math.min(take.limit, MOST_ENTRIES), 1)
  end

  -- How long until `n` hits have expired, of those that count, and then of the `charged` new ones.
  -- When no entry is left for new ones, the newest becomes as new as they are.
  local function wait_for(state, take, charged, n)
    local joins = charged > 0 and state.n >= most_entries(take)
    local stamp, i, left = run.now, 1, n

    while i < state.n and left > 0 do
      local hits

      stamp, hits = older_at(state, i)
      i, left = i + 1, left - hits
    end
    if left > 0 and state.n > 0 then
      stamp, left = state.stamp, joins and left or left - state.hits
    end
    if left > 0 then
      stamp = math.max(stamp, run.now)
    end
    return stamp + take.length - run.now
  end

  local function judge(state, take, hits, is_all)
    local used = state.used
    local is_over = used + hits > take.limit
    local charged = run.after_charge(is_over, hits, is_all)
    local after = math.min(used + charged, run.most)
    local target = run.after_target(take, is_over, after)
    local reset = run.after_reset_at_once(take, is_over)

    if after > target then
      reset = wait_for(state, take, charged, after - target)
    end
    return is_over and run.over or take.limit - after, reset
  end

  local function add(state, take, hits)
    local stamp = math.max(state.stamp, run.now)
    local used = math.min(state.used + hits, run.most)

    if state.n == 0 or (state.n < most_entries(take) and state.stamp ~= stamp) then
      if state.n > 0 then
        state.added = state.added .. struct.pack('<dd', state.stamp, state.hits)
      end
      state.n, state.hits = state.n + 1, 0
    end
    state.stamp, state.hits = stamp, state.hits + (used - state.used)
    state.used, state.expiry = used, stamp + take.length
    state.is_changed = true
  end

  -- Of the newest entries; one that has none left is removed.
  local function give_back(state, hits)
    while hits > 0 and state.n > 0 do
      local given = math.min(hits, state.hits)

      state.hits, state.used, hits = state.hits - given, state.used - given, hits - given
      if state.hits == 0 then
        state.n = state.n - 1
        if state.n == 0 then
          clear(state)
        else
          state.stamp, state.hits = older_at(state, state.n)
          if state.added == '' then
            state.to = state.to - ENTRY_LENGTH
          else
            state.added = state.added:sub(1, -ENTRY_LENGTH - 1)
          end
        end
      end
    end
  end

  local function give(state, take, hits, is_all)
    if hits > 0 and state.used > 0 then
      give_back(state, hits)
      state.expiry = state.n > 0 and state.stamp + take.length or run.now
      state.is_changed = true
    end
    return judge(state, take, 0, is_all)
  end

  local function encode(state)
    local newest = state.n > 0 and struct.pack('<dd', state.stamp, state.hits) or ''

    return struct.pack('<Bdd', 3, state.expiry, state.used) ..
      state.text:sub(state.from, state.to) .. state.added .. newest, state.expiry
  end

  kinds[3] = {
    decode = decode,
    judge = judge,
    add = add,
    give = give,
    encode = encode,
  }
end
