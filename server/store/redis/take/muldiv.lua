-- SPDX-License-Identifier: Apache-2.0
-- a * b / c in whole numbers up to `run.most`, as limit/muldiv.h has it: rounded down, and the rest.
--
-- A product beyond 2^53 is two numbers: the nearest double, and what that is short of it, which is
-- reckoned from the halves of the factors (T. J. Dekker, "A Floating-Point Technique for Extending
-- the Available Precision", 1971). The quotient of doubles is near enough to be put right by one or
-- two.
if kinds[1] or kinds[4] or warms_up then
  local function rest_of_product(a, b, product)
    local shifted = a * 134217729 -- 2^27 + 1
    local a_high = shifted - (shifted - a)
    local a_low = a - a_high

    shifted = b * 134217729

    local b_high = shifted - (shifted - b)
    local b_low = b - b_high

    return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
  end

  function run.muldiv(a, b, c)
    local product = a * b
    local quotient = math.floor(product / c)

    if product <= run.most then
      return quotient, product - quotient * c
    end
    quotient = math.min(quotient, run.most)

    local rest = rest_of_product(a, b, product)

    for _ = 1, 8 do
      local covered = quotient * c
      local left = (product - covered) + (rest - rest_of_product(quotient, c, covered))

      if left < 0 then
        quotient = quotient - 1
      elseif left < c then
        return quotient, left
      elseif quotient == run.most then
        return run.most, 0
      else
        quotient = quotient + 1
      end
    end
    error('muldiv: not whole numbers')
  end

  function run.muldiv_up(a, b, c)
    local quotient, rest = run.muldiv(a, b, c)

    return rest > 0 and quotient < run.most and quotient + 1 or quotient
  end
end
