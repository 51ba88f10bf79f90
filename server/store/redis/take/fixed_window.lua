-- SPDX-License-Identifier: Apache-2.0
-- A fixed window is a decimal count that expires with its window. Its end is read from the time to
-- live, not believed to have come because the key is gone or not: scripts see expiry by a frozen
-- clock. The count goes on when the window is this one or the next (time went back by little), and
-- begins anew otherwise. Without a time to live it would never end, so it is given one.
--
-- A key that names its window, in the incumbent's form, has one window in its life, and its time to
-- live says nothing but that there is one: the incumbent lets it live longer, and the clock that
-- named it need not agree with this one. It lives for a window's length here.
makers[0] = function()
  local kind = {n_parameters = 0}

  function kind.read(take)
    local text = get(take.key)
    local length = take.length
    local start = now - now % length
    local state = {
      used = 0,
      start = start,
      expiry = (take.is_dated and now or start) + length,
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
    local expiry = call('PEXPIRETIME', take.key)
    local ahead = take.is_dated and 0 or floor(expiry * 1000 / length) * length - length - start

    if expiry == -1 then
      n_repaired = n_repaired + 1
      state.is_changed = true
    elseif ahead > length then
      n_restarted = n_restarted + 1
      return state
    elseif ahead < 0 then
      return state
    else
      state.start = start + ahead
      state.expiry = state.expiry + ahead
    end
    state.used = max(0, min(stored, COUNT_MAX))
    state.stored = expiry ~= -1 and state.used == stored and stored
    return state
  end

  function kind.judge(state, take, hits)
    local remains = take.limit - (state.used + hits)

    return remains < 0 and OVER or remains, min(state.start + take.length - now, take.length)
  end

  function kind.add(state, _, hits)
    state.used = min(state.used + hits, COUNT_MAX)
    state.is_changed = true
  end

  function kind.give(state, take, hits)
    state.is_changed = state.is_changed or (hits > 0 and state.used > 0)
    state.used = max(state.used - hits, 0)
    return kind.judge(state, take, 0)
  end

  function kind.write(state, key)
    if state.stored then
      local more = state.used - state.stored

      call('INCRBY', key, more == 1 and '1' or more)
    else
      set(key, state.used, state.expiry)
    end
  end

  return kind
end
