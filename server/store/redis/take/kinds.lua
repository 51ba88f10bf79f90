-- SPDX-License-Identifier: Apache-2.0
-- What kinds of limits have in common. A kind is
--   decode(text, take)               its state now; `text` is false when there is none; nil when it
--                                    is something else
--   judge(state, take, hits, is_all) what remains after `hits` more, or OVER; and the time of reset;
--                                    `is_all`: what does not fit would be booked
--   add(state, take, hits, is_all)   charges; the same was judged just before
--   refuse(state, take)              what a take that was judged over leaves; few kinds have it
--   give(state, take, hits, is_all)  refunds, and judges as with no hits
--   encode(state)                    a text, and when it expires
-- or, in place of the first and the last, read(take) and write(state, key). A state says in
-- `is_changed` whether it has to be written, and in `stored_expiry` when the text expired that it
-- was read from. Where it can be, it is already what the time has made of it: no time passes while
-- the script runs. Verdicts are those of the header in limit/ of the same name, to the last unit.
--
-- All but fixed windows of the epoch are strings that begin with the number of their kind. What
-- they hold says when it ends; they have a time to live as long, set by every write, so one that
-- was lost comes back, and meanwhile locks nobody out.
local run = {
  now = now,
  over = OVER,
  most = COUNT_MAX,
  is_dated = is_dated, -- do keys name their windows
  tells_wait = true, -- or is all that is asked whether a take is over
  has_twins = false, -- takes of one key
  n_repaired = 0, -- counters found without a time to live
  n_restarted = 0, -- counters of another time, begun anew
  get = false,
  is_count = false,
  set = false,
  after_charge = false,
  after_target = false,
  after_reset_at_once = false,
  muldiv = false,
  muldiv_up = false,
}

-- The text at `key`, false when there is none, nil when it is no text.
function run.get(key)
  local text = redis.pcall('GET', key)

  if type(text) == 'table' then
    if text.err:find('WRONGTYPE', 1, true) then
      return nil
    end
    error(text)
  end
  return text
end

-- Somebody else's bytes may be any number.
function run.is_count(number)
  return number >= 0 and number <= run.most and number % 1 == 0
end

-- A number is slow to print where Redis does it.
function run.set(key, text, expiry)
  redis.call('SET', key, text, 'PXAT', string.format('%.0f', math.ceil(expiry / 1000)))
end

-- As limit/after.h: what a take leaves on the counter, what `used`, after it, has to fall to, and
-- the reset when it has already.
if kinds[1] or kinds[2] or kinds[3] or kinds[4] then
  function run.after_charge(is_over, hits, is_all)
    return is_over and not is_all and 0 or hits
  end

  function run.after_target(take, is_over, used)
    return math.max((is_over and take.limit or used) - 1, 0)
  end

  function run.after_reset_at_once(take, is_over)
    if not is_over then
      return 0
    end
    return take.limit > 0 and 1 or take.length
  end
end
