/**
 * Fast conversion of numerals of up to seventeen digits, without an intermediate string. Nearly all
 * numerals are that short. Vectors need it: a request may contain a hundred thousand numbers.
 *
 * Up to fifteen digits, a double represents any decimal. A longer numeral is represented if it is
 * the text that String prints for the nearest double: the shortest text that reads back as that
 * double and, of several such texts, the closest one. The code verifies both conditions by
 * computing the distance of the double from the numeral and from its two neighbours with one digit
 * less.
 */

/** Digits of the high half of a mantissa, as many as fit into a small integer. */
export const highDigitsMax = 9
/** Digits of both halves; numerals with more take the slow path. */
export const digitsMax = 17

/**
 * The double equal to mantissa times 10^power. NaN if no double is equal, or if only the slow path
 * can decide. Of the `count` digits of the mantissa, `high` contains the first nine and `low` the
 * others.
 */
export function doubleOf(high: number, low: number, count: number, power: number): number {
  if (count > digitsMax || power > 22 || power < -22) return NaN
  const shifted = count > highDigitsMax ? high * powersOfTen[count - highDigitsMax]! : high
  // Both operands are exact, so there is only one rounding, to the nearest double.
  if (count <= 15)
    return power < 0
      ? (shifted + low) / powersOfTen[-power]!
      : (shifted + low) * powersOfTen[power]!
  return power < 0 ? longDoubleOf(shifted, low, -power) : NaN
}

/** The double for (shifted + low) / 10^places, which has sixteen or seventeen digits. */
function longDoubleOf(shifted: number, low: number, places: number): number {
  const scale = powersOfTen[places]!
  // Both the sum and the quotient may be rounded. The measured error corrects both.
  let double = (shifted + low) / scale
  let excess = excessOf(double, shifted, low, places)
  double -= excess / scale
  excess = excessOf(double, shifted, low, places)

  // The distances below are in units of the numeral's last digit.
  const nextDown = double - double * justOverHalfGap
  const nextUp = double + double * justOverHalfGap
  const reachMin = ((double - nextDown) / 2) * scale
  const reachMax = ((nextUp - double) / 2) * scale
  const distance = Math.abs(excess)
  const lastDigit = low % 10
  const carried =
    // The numeral is so close to the double that it reads back as this double.
    distance < reachMin - doubt &&
    // No other numeral with as many digits is closer to the double.
    distance < 0.5 - doubt &&
    // Neither neighbour with one digit less reads back as this double, so the numeral is the
    // shortest.
    lastDigit + excess > reachMax + doubt &&
    10 - lastDigit - excess > reachMax + doubt
  return carried ? double : NaN
}

/**
 * A double times this factor is more than half the gap to the next double and about the whole gap
 * at most, so the sum of both is rounded to the next double. Likewise, the difference is rounded to
 * the next lower double, even below a power of two, where the gap is half as wide.
 */
const justOverHalfGap = 2 ** -53 * (1 + 2 ** -52)

/**
 * Tolerance of the comparisons in longDoubleOf, in units of the numeral's last digit: far above the
 * rounding errors. Within the tolerance, the slow path decides.
 */
const doubt = 1e-6

/**
 * double × 10^places − (shifted + low). The product is held in two doubles, after Dekker,
 * "A floating-point technique for extending the available precision" (1971).
 */
function excessOf(double: number, shifted: number, low: number, places: number): number {
  const scale = powersOfTen[places]!
  const scaleHigh = powersOfTenHigh[places]!
  const scaleLow = scale - scaleHigh
  const doubleHigh = highHalf(double)
  const doubleLow = double - doubleHigh
  const product = double * scale
  const error =
    doubleLow * scaleLow -
    (product - doubleHigh * scaleHigh - doubleLow * scaleHigh - doubleHigh * scaleLow)
  return product - shifted - low + error
}

/** The first 26 bits of the mantissa, so that products of halves are exact. */
function highHalf(double: number): number {
  const spread = double * (2 ** 27 + 1)
  return spread - (spread - double)
}

/** All powers of ten that a double represents exactly. */
const powersOfTen = Array.from({ length: 23 }, (_, power) => Number(`1e${power}`))
const powersOfTenHigh = powersOfTen.map(highHalf)
