-- SPDX-License-Identifier: Apache-2.0
-- All others: each counter is read once, judged and charged as a table, and written once. Here what
-- is asked becomes a table a take. A write that Redis refuses (full, read-only) raises its error; it
-- is the first one then, so nothing was charged.
--
-- What is made at every run costs time: functions and tables most of all. So only what this call
-- asks for is made, functions share one table, as each local that they take from outside costs, and
-- tables have all their fields from the beginning, as growing costs.
local kinds = {} -- by number; true for those that are asked for, until they are made
local takes = {}
local warms_up, has_all_or_nothing, is_one_group, is_dated = false, false, true, false

for i = n_done + 1, #KEYS do
  local hits, limit, length, number, count, refund, enforced, booked, dated, id
  local a, b, c, d, e, warm_up, warm_up_start

  hits, limit, length, number, count, refund, enforced, booked, dated, id, at =
    unpack('<dddBBBBBBI4', body, at)

  local inner = number % 128 -- of 128 more, which warms up

  kinds[inner] = true
  if inner == 2 or inner == 4 then
    a, at = unpack('<d', body, at)
  elseif inner == 6 then
    a, b, c, d, e, at = unpack('<ddddd', body, at)
  end
  if inner ~= number then
    warm_up, warm_up_start, at = unpack('<dd', body, at)
    warms_up = true
  end

  local take = {
    key = KEYS[i],
    hits = hits,
    limit = limit, -- that is enforced
    length = length,
    a = a,
    kind = number, -- until they are made
    group = (not is_late or booked == 1) and (mode == 0 and id or 0), -- none when it is too late
    is_all = count == 0,
    is_all_or_nothing = count == 2,
    is_refund = refund == 1,
    is_enforced = enforced == 1,
    judged_hits = hits,
    would_be_over = false,
    state = false,
    remains = LATE,
    reset = 0,
  }

  if b then
    take.b, take.c, take.d, take.e = b, c, d, e
  end
  if warm_up then
    take.requests, take.warm_up, take.warm_up_start = limit, warm_up, warm_up_start
  end
  takes[i - n_done] = take
  has_all_or_nothing = has_all_or_nothing or count == 2
  is_one_group = is_one_group and take.group and take.group == takes[1].group
  is_dated = dated == 1
end
