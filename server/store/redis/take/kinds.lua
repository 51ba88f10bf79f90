-- SPDX-License-Identifier: Apache-2.0
-- All others: each counter is read once, judged and charged as a table, and written once. A write
-- that Redis refuses (full, read-only) raises its error; it is the first one then, so nothing was
-- charged.
--
-- A kind of limit is
--   n_parameters                     numbers behind the record of a take: take.a to take.d
--   decode(text, take)               its state now; `text` is false when there is none; nil when it
--                                    is something else
--   judge(state, take, hits, count)  what remains after `hits` more, or OVER; and the time of reset
--   add(state, take, hits, count)    charges; the same was judged just before
--   refuse(state, take)              what a take that was judged over leaves; few kinds have it
--   give(state, take, hits, count)   refunds, and judges as with no hits
--   encode(state)                    a text, and when it expires
-- or, in place of the first and the last, read(take) and write(state, key). A state says in
-- `is_changed` whether it has to be written, and in `stored_expiry` when the text expired that it
-- was read from. Where it can be, it is already what the time has made of it: no time passes while
-- the script runs. Verdicts are those of the header in limit/ of the same name, to the last unit.
--
-- All but fixed windows of the epoch are strings that begin with the number of their kind. What
-- they hold says when it ends; they have a time to live as long, set by every write, so one that
-- was lost comes back, and meanwhile locks nobody out.
local COUNT_ALL, COUNT_ADMITTED, COUNT_ALL_OR_NOTHING = 0, 1, 2
local n_repaired, n_restarted = 0, 0
local makers = {}

-- The text at `key`, false when there is none, nil when it is no text.
local function get(key)
  local text = try('GET', key)

  if type(text) == 'table' then
    if text.err:find('WRONGTYPE', 1, true) then
      return nil
    end
    error(text)
  end
  return text
end

-- Somebody else's bytes may be any number.
local function is_count(number)
  return number >= 0 and number <= COUNT_MAX and number % 1 == 0
end

local function set(key, text, expiry)
  call('SET', key, text, 'PXAT', ceil(expiry / 1000))
end

-- As limit/after.h: what a take leaves on the counter, and what `used`, after it, has to fall to.
local function after_charge(is_over, hits, count)
  return is_over and count ~= COUNT_ALL and 0 or hits
end

local function after_target(take, is_over, hits, count, used)
  if is_over then
    return take.limit - min((hits == 0 or count == COUNT_ALL) and 1 or hits, take.limit)
  end
  return max(used - 1, 0)
end
