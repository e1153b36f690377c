/** Whether a double carries all that a numeral says. 0.10 it does, 12345678901234567890 it does not. */
export function isDouble(numeral: string): boolean {
  const double = Number(numeral)
  return Number.isFinite(double) && canonical(String(double)) === canonical(numeral)
}

/** Digits without zeros around them, and the power of ten of the last one. */
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
