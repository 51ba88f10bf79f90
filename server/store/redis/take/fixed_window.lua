-- SPDX-License-Identifier: Apache-2.0
-- A fixed window is a decimal count that expires with its window. Its end is read from the time to
-- live, not believed to have come because the key is gone or not: scripts see expiry by a frozen
-- clock. The count goes on when the window is this one or the next (time went back by little), and
-- begins anew otherwise. Without a time to live it would never end, so it is given one.
--
-- A key that names its window, in the incumbent's form, has one window in its life, and its time to
-- live says nothing but that there is one: the incumbent lets it live longer, and the clock that
-- named it need not agree with this one. It lives for a window's length here.
if kinds[0] then
  local function read(take)
    local text = run.get(take.key)
    local length = take.length
    local start = run.now - run.now % length
    local state = {
      used = 0,
      start = start,
      expiry = (run.is_dated and run.now or start) + length,
      stored = false,
      is_changed = false,
    }

    if text == false then
      return state
    end
    if not text or (text ~= '0' and not text:find('^%-?[1-9]%d*$')) then
      return nil
    end

    local stored = tonumber(text)
    local expiry = redis.call('PEXPIRETIME', take.key)
    local ahead = run.is_dated and 0 or math.floor(expiry * 1000 / length) * length - length - start

    if expiry == -1 then
      run.n_repaired = run.n_repaired + 1
      state.is_changed = true
    elseif ahead > length then
      run.n_restarted = run.n_restarted + 1
      return state
    elseif ahead < 0 then
      return state
    else
      state.start = start + ahead
      state.expiry = state.expiry + ahead
    end
    state.used = math.max(0, math.min(stored, run.most))
    state.stored = expiry ~= -1 and state.used == stored and stored
    return state
  end

  local function judge(state, take, hits)
    local remains = take.limit - (state.used + hits)

    return remains < 0 and run.over or remains, math.min(state.start + take.length - run.now, take.length)
  end

  local function add(state, _, hits)
    state.used = math.min(state.used + hits, run.most)
    state.is_changed = true
  end

  local function give(state, take, hits)
    state.is_changed = state.is_changed or (hits > 0 and state.used > 0)
    state.used = math.max(state.used - hits, 0)
    return judge(state, take, 0)
  end

  local function write(state, key)
    if state.stored then
      local more = state.used - state.stored

      redis.call('INCRBY', key, more == 1 and '1' or more)
    else
      run.set(key, state.used, state.expiry)
    end
  end

  kinds[0] = {
    read = read,
    judge = judge,
    add = add,
    give = give,
    write = write,
  }
end
