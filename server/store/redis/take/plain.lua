-- SPDX-License-Identifier: Apache-2.0
--
-- Judges and charges the takes of one call, atomically. Redis 7.0 or later, or Valkey.
--
-- KEYS:    one a take, in order; a key may come twice.
-- ARGV[1]: packed little-endian. Head '<BBdd': the mode (0 by count, 1 stop), whether every take is
--          of the plain sort (charges and looks on fixed windows of the epoch that count all), the
--          time after which it is too late (0: never), the time to count at (0: Redis's own). Then
--          a record '<dddBBBBBBI4' a take: hits, limit, length of the window; kind, what it charges
--          (0 all, 1 admitted, 2 all or nothing), whether it is a refund, enforced, booked even
--          when late, on a key that names its window; group. Behind it what its kind wants to know,
--          as 'd'. Times are in microseconds since the epoch.
-- Reply:   integers. The time counted at; then two a take: what remains and the time of its reset
--          (limit/limit.h), or OVER and that time, or FOREIGN or LATE and 0, and a third, the limit
--          that was enforced, where it warms up; at the end, only when they are not both 0, how
--          many counters were repaired and how many began anew.
--
-- The parts of the script are joined in the order that CMakeLists.txt has them in. Everything is
-- below 2^53, so Lua's numbers are exact. Functions cost when they are made, at every run, so the
-- plain sort is done before any is.
local OVER, FOREIGN, LATE = -1, -2, -3
local COUNT_MAX = 9007199254740991
local RECORD_LENGTH = 34

local call, try, pack, unpack = redis.call, redis.pcall, struct.pack, struct.unpack
local floor, ceil, min, max = math.floor, math.ceil, math.min, math.max
local body = ARGV[1]
local mode, is_plain, not_after, now, at = unpack('<BBdd', body)

if now == 0 then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
end

local is_late = not_after > 0 and now > not_after
local reply, n, n_done = {now}, 1, 0

-- The plain sort. What is odd in any way ends the loop and is left to the thorough part below, not
-- charged: a count that was below nothing, or gets beyond all counts, is seen after the charge only,
-- which is taken back.
if is_plain == 1 and not is_late then
  for i = 1, #KEYS do
    local key = KEYS[i]
    local hits, limit, length = unpack('<ddd', body, at)
    local start = now - now % length
    local expiry = call('PEXPIRETIME', key)
    local used = hits

    if expiry == -2 then
      if hits > 0 then
        call('SET', key, hits, 'PXAT', ceil((start + length) / 1000))
      end
    else
      local ahead = floor(expiry * 1000 / length) * length - length - start

      if ahead < 0 or ahead > length then
        break
      end
      start = start + ahead
      if hits > 0 then
        used = try('INCRBY', key, hits == 1 and '1' or hits) -- a number is slow to print
      else
        used = try('GET', key)
        used = type(used) == 'string' and used:find('^[1-9]%d*$') and tonumber(used)
      end
      if type(used) ~= 'number' then
        break
      end
      if used < hits or used > COUNT_MAX then
        if hits > 0 then
          call('INCRBY', key, -hits)
        end
        break
      end
    end

    local left = start + length - now

    reply[n + 1] = used > limit and OVER or limit - used
    reply[n + 2] = left < length and left or length
    n, n_done, at = n + 2, i, at + RECORD_LENGTH
  end
  if n_done == #KEYS then
    return reply
  end
end
