/** Sets of characters in patterns. Characters are code points. */
export interface CharSet {
  (char: number): boolean
  /** Maximum number of basic sets that one call evaluates; absent: 1. */
  readonly weight?: number
}

export function weightOf({ weight = 1 }: CharSet): number {
  return weight
}

function weighted(set: CharSet, of: readonly CharSet[]): CharSet {
  const weight = of.reduce((sum, one) => sum + weightOf(one), 0)
  return weight <= 1 ? set : Object.assign(set, { weight })
}

const asciiMax = 128

/** The set with a lookup table for ASCII characters. */
export function tabled(set: CharSet): CharSet {
  const table = Uint8Array.from({ length: asciiMax }, (_, char) => (set(char) ? 1 : 0))
  return weighted((char) => (char < asciiMax ? table[char] === 1 : set(char)), [set])
}

export const oneChar =
  (wanted: number): CharSet =>
  (char) =>
    char === wanted

export const range =
  (first: number, last: number): CharSet =>
  (char) =>
    char >= first && char <= last

export const not = (set: CharSet): CharSet => weighted((char) => !set(char), [set])

export const anyOf = (sets: readonly CharSet[]): CharSet =>
  weighted((char) => sets.some((set) => set(char)), sets)

export const allOf = (sets: readonly CharSet[]): CharSet =>
  weighted((char) => sets.every((set) => set(char)), sets)

/** The set extended by the other case of its characters. */
export function ignoringCase(set: CharSet): CharSet {
  const inEitherCase = (char: number) => {
    if (set(char)) return true
    const text = String.fromCodePoint(char)
    return isIn(set, text.toLowerCase()) || isIn(set, text.toUpperCase())
  }
  return weighted(inEitherCase, [set, set, set])
}

function isIn(set: CharSet, changed: string): boolean {
  const char = changed.codePointAt(0)!
  return changed.length === String.fromCodePoint(char).length && set(char)
}

/**
 * A set from a character class of JavaScript, such as "\p{L}". Throws SyntaxError if it is unknown.
 */
function byClass(source: string): CharSet {
  const regExp = new RegExp(`^[${source}]$`, 'u')
  return (char) => regExp.test(String.fromCodePoint(char))
}

export const anyChar: CharSet = () => true
export const lineEnds = byClass('\\n\\r\\u0085\\u2028\\u2029')

/** Classes of one letter after a backslash. The upper-case letter negates the class. */
export const letterClasses: ReadonlyMap<string, CharSet> = new Map([
  ['d', byClass('0-9')],
  ['w', byClass('A-Za-z0-9_')],
  ['s', byClass(' \\t\\n\\v\\f\\r')],
  ['h', byClass(' \\t\\xa0\\u1680\\u180e\\u2000-\\u200a\\u202f\\u205f\\u3000')],
  ['v', byClass('\\n\\v\\f\\r\\x85\\u2028\\u2029')],
])

/** Classes \p{name} of Java that JavaScript lacks or defines differently. */
const javaClasses: ReadonlyMap<string, string> = new Map([
  ['Lower', 'a-z'],
  ['Upper', 'A-Z'],
  ['ASCII', '\\0-\\x7f'],
  ['Alpha', 'A-Za-z'],
  ['Digit', '0-9'],
  ['Alnum', 'A-Za-z0-9'],
  ['Punct', '!-\\/:-@\\[-`\\{-~'],
  ['Graph', '!-~'],
  ['Print', ' -~'],
  ['Blank', ' \\t'],
  ['Cntrl', '\\0-\\x1f\\x7f'],
  ['XDigit', '0-9A-Fa-f'],
  ['Space', ' \\t\\n\\v\\f\\r'],
  ['javaLowerCase', '\\p{Lowercase}'],
  ['javaUpperCase', '\\p{Uppercase}'],
  ['javaWhitespace', '\\s'],
  ['javaLetter', '\\p{L}'],
  ['javaDigit', '\\p{Nd}'],
  ['javaLetterOrDigit', '\\p{L}\\p{Nd}'],
])

/** The class \p{name}; undefined if it is unknown. */
export function namedClass(name: string): CharSet | undefined {
  const java = javaClasses.get(name)
  if (java !== undefined) return byClass(java)
  if (!/^[\w=]+$/.test(name)) return undefined
  const bare = name.replace(/^(?:Is|script=|sc=|general_category=|gc=)/i, '')
  for (const source of [bare, `Script=${bare}`])
    try {
      return byClass(`\\p{${source}}`)
    } catch {
      // The name is not of this kind; the loop tries the next kind.
    }
  return undefined
}
