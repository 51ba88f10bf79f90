-- SPDX-License-Identifier: Apache-2.0
-- A sliding log: '<BI2dd' of its kind, the entries that its ring has in memory, when it expires, and
-- the sum; then '<dd' an entry: stamp and hits, from the oldest to the newest.
makers[3] = function()
  local HEAD_LENGTH, ENTRY_LENGTH = 19, 16
  local MOST_ENTRIES, STEP = 1000, 8
  local kind = {n_parameters = 0}

  -- The entries before the newest are a string, `older`: few takes need more than its first.
  local function parse(text)
    local size = #text
    local number, capacity, expiry, used = unpack('<BI2dd', text)
    local n = (size - HEAD_LENGTH) / ENTRY_LENGTH

    if number ~= 3 or n % 1 ~= 0 or not (is_count(expiry) and is_count(used)) then
      return nil
    end

    local stamp, hits = 0, 0

    if n > 0 then
      stamp, hits = unpack('<dd', text, size - ENTRY_LENGTH + 1)
    end
    return {
      capacity = capacity,
      expiry = expiry,
      stored_expiry = expiry,
      used = used,
      n = n,
      stamp = stamp, -- of the newest
      hits = hits,
      older = text:sub(HEAD_LENGTH + 1, max(size - ENTRY_LENGTH, HEAD_LENGTH)),
      is_changed = false,
    }
  end

  local function clear(state)
    state.n, state.used, state.stamp, state.hits, state.older = 0, 0, 0, 0, ''
  end

  -- The newest entry has not expired.
  local function forget(state, length)
    local older, at = state.older, 1

    while at < #older do
      local stamp, hits = unpack('<dd', older, at)

      if stamp > now - length then
        break
      end
      state.used, state.n = state.used - hits, state.n - 1
      at = at + ENTRY_LENGTH
    end
    if at > 1 then
      state.older = older:sub(at)
    end
  end

  function kind.decode(text, take)
    local length = take.length

    if text == false then
      local state = {capacity = 0, expiry = 0, stored_expiry = 0, is_changed = false}

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
    if state.expiry > now and state.expiry - now <= 2 * length then
      forget(state, length)
      return state
    end
    if state.expiry > now then
      n_restarted = n_restarted + 1
    end
    clear(state)
    return state
  end

  -- Entries that there may be; as many as there have been, when the limit was lowered.
  local function most_entries(state, take)
    return max(min(take.limit, MOST_ENTRIES), state.capacity, 1)
  end

  -- How long until `n` hits have expired, of those that count, and then of the `charged` new ones.
  -- When no entry is left for new ones, the newest becomes as new as they are.
  local function wait_for(state, take, charged, n)
    local joins = charged > 0 and state.n > 0 and state.n == most_entries(state, take)
    local older, at, left = state.older, 1, n
    local stamp = now

    while at < #older and left > 0 do
      local hits

      stamp, hits = unpack('<dd', older, at)
      at, left = at + ENTRY_LENGTH, left - hits
    end
    if left > 0 and state.n > 0 and not joins then
      stamp, left = state.stamp, left - state.hits
    end
    if left > 0 then
      stamp = max(stamp, now)
    end
    return stamp + take.length - now
  end

  function kind.judge(state, take, hits, count)
    local used = state.used
    local is_over = used + hits > take.limit
    local charged = after_charge(is_over, hits, count)
    local after = min(used + charged, COUNT_MAX)
    local target = after_target(take, is_over, hits, count, after)
    local reset = is_over and take.length or 0

    if after > target then
      reset = wait_for(state, take, charged, after - target)
    end
    return is_over and OVER or take.limit - after, reset
  end

  function kind.add(state, take, hits)
    local stamp = max(state.stamp, now)
    local used = min(state.used + hits, COUNT_MAX)

    if state.n == 0 or state.stamp ~= stamp then
      if state.n >= state.capacity then
        state.capacity = min(state.capacity + STEP, most_entries(state, take))
      end
      if state.n < state.capacity then
        if state.n > 0 then
          state.older = state.older .. pack('<dd', state.stamp, state.hits)
        end
        state.n, state.hits = state.n + 1, 0
      end
    end
    state.stamp, state.hits = stamp, state.hits + (used - state.used)
    state.used, state.expiry = used, stamp + take.length
    state.is_changed = true
  end

  -- Of the newest entries; one that has none left is removed.
  local function give_back(state, hits)
    while hits > 0 and state.n > 0 do
      local given = min(hits, state.hits)

      state.hits, state.used, hits = state.hits - given, state.used - given, hits - given
      if state.hits == 0 then
        local n_kept = #state.older - ENTRY_LENGTH

        state.n = state.n - 1
        if state.n > 0 then
          state.stamp, state.hits = unpack('<dd', state.older, n_kept + 1)
          state.older = state.older:sub(1, n_kept)
        else
          clear(state)
        end
      end
    end
  end

  function kind.give(state, take, hits, count)
    if hits > 0 and state.used > 0 then
      give_back(state, hits)
      state.expiry = state.n > 0 and state.stamp + take.length or now
      state.is_changed = true
    end
    return kind.judge(state, take, 0, count)
  end

  function kind.encode(state)
    local text = pack('<BI2dd', 3, state.capacity, state.expiry, state.used) .. state.older

    if state.n > 0 then
      text = text .. pack('<dd', state.stamp, state.hits)
    end
    return text, state.expiry
  end

  return kind
end
