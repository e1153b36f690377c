/**
 * Whether a double keeps all significant digits of the numeral: true for 0.10, false for
 * 12345678901234567890.
 */
export function isDouble(numeral: string): boolean {
  const double = Number(numeral)
  return Number.isFinite(double) && canonical(String(double)) === canonical(numeral)
}

/** The sign, the significant digits, and the power of ten of the last digit. */
function canonical(numeral: string): string {
  const [, sign, whole, fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(numeral) ?? []
  if (whole === undefined) return numeral
  const digits = (whole + fraction).replace(/^0+/, '')
  const short = digits.replace(/0+$/, '')
  if (short === '') return '0'
  const power = Number(exponent) - fraction.length + digits.length - short.length
  return `${sign!}${short}e${power}`
}
