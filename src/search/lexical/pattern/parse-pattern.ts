/**
 * Parses a regular expression into a tree.
 *
 * There are two dialects. "java" is the syntax of java.util.regex; errors name rare constructs that
 * are not supported. "automaton" is the syntax of Lucene's simple patterns: without anchors and
 * lookaround, with quoted strings; its set operators are rejected.
 *
 * Throws a SyntaxError that describes the problem to the author of the pattern.
 */
import {
  allOf,
  anyChar,
  anyOf,
  ignoringCase,
  letterClasses,
  lineEnds,
  namedClass,
  not,
  oneChar,
  range,
  tabled,
  type CharSet,
} from './char-set.ts'
import { fixedLimits } from '../../../limits.ts'

export type Node =
  | { readonly kind: 'char'; readonly set: CharSet }
  | { readonly kind: 'sequence'; readonly of: readonly Node[] }
  | { readonly kind: 'choice'; readonly of: readonly Node[] }
  | {
      readonly kind: 'repeat'
      readonly of: Node
      readonly min: number
      readonly max: number
      readonly lazy: boolean
    }
  | { readonly kind: 'group'; readonly of: Node; readonly number: number }
  /** An atomic group: after a match, other ways to match its content are not tried. */
  | { readonly kind: 'atomic'; readonly of: Node }
  | {
      readonly kind: 'look'
      readonly of: Node
      readonly ahead: boolean
      readonly wanted: boolean
    }
  | { readonly kind: 'edge'; readonly edge: Edge }
  | { readonly kind: 'same'; readonly group: number; readonly ignoreCase: boolean }

export type Edge =
  | 'text start'
  | 'text end'
  | 'last line end'
  | 'line start'
  | 'line end'
  | 'word edge'
  | 'no word edge'

export type Dialect = 'java' | 'automaton'

export interface ParsedPattern {
  readonly root: Node
  readonly groupCount: number
  readonly groupNames: ReadonlyMap<string, number>
}

export function parsePattern(source: string, dialect: Dialect): ParsedPattern {
  return new PatternReader(source, dialect).read()
}

interface Flags {
  readonly i: boolean
  readonly m: boolean
  readonly s: boolean
  /**
   * The flag u. It has no effect, because case-insensitive matching always includes non-ASCII
   * characters.
   */
  readonly u: boolean
}

class PatternReader {
  readonly #source: string
  readonly #java: boolean
  readonly #groupNames = new Map<string, number>()
  #groupCount = 0
  #at = 0
  #depth = 0
  #flags: Flags = { i: false, m: false, s: false, u: false }

  constructor(source: string, dialect: Dialect) {
    this.#source = source
    this.#java = dialect === 'java'
    if (!this.#java) this.#flags = { ...this.#flags, s: true }
  }

  read(): ParsedPattern {
    const root = this.#choice()
    if (this.#at < this.#source.length) this.#fail('")" closes nothing')
    return { root, groupCount: this.#groupCount, groupNames: this.#groupNames }
  }

  #choice(): Node {
    if (++this.#depth > fixedLimits.patternDepthMax) this.#fail('it is nested too deeply')
    const flags = this.#flags
    const ways = [this.#sequence()]
    while (this.#skip('|')) ways.push(this.#sequence())
    this.#flags = flags
    this.#depth--
    return ways.length === 1 ? ways[0]! : { kind: 'choice', of: ways }
  }

  #sequence(): Node {
    const parts: Node[] = []
    while (this.#at < this.#source.length && !this.#sees('|') && !this.#sees(')'))
      parts.push(this.#repeated(this.#atom()))
    return parts.length === 1 ? parts[0]! : { kind: 'sequence', of: parts }
  }

  #repeated(atom: Node): Node {
    let node = atom
    for (;;) {
      const bounds = this.#bounds()
      if (bounds === undefined) return node
      const lazy = this.#java && this.#skip('?')
      const repeat: Node = { kind: 'repeat', of: node, lazy, ...bounds }
      node = this.#java && this.#skip('+') ? { kind: 'atomic', of: repeat } : repeat
    }
  }

  #bounds(): { min: number; max: number } | undefined {
    if (this.#skip('*')) return { min: 0, max: Infinity }
    if (this.#skip('+')) return { min: 1, max: Infinity }
    if (this.#skip('?')) return { min: 0, max: 1 }
    if (!this.#sees('{')) return undefined
    const found = this.#take(/\{(\d{1,6})(,(\d{0,6}))?\}/y)
    if (found === undefined) this.#fail('"{" must start a count such as {2,3}')
    const min = Number(found[1])
    const max = found[2] === undefined ? min : found[3] ? Number(found[3]) : Infinity
    if (min > max) this.#fail(`the minimum in {${min},${max}} is greater than the maximum`)
    return { min, max }
  }

  #atom(): Node {
    const char = this.#next()
    switch (char) {
      case '(':
        return this.#group()
      case '[':
        return this.#char(this.#class())
      case '.':
        return { kind: 'char', set: this.#flags.s ? anyChar : not(lineEnds) }
      case '\\':
        return this.#escape()
      case '*':
      case '+':
      case '?':
      case '{':
        return this.#fail(`"${char}" repeats nothing`)
      default:
        return this.#java ? this.#javaAtom(char) : this.#automatonAtom(char)
    }
  }

  #javaAtom(char: string): Node {
    if (char === '^') return edge(this.#flags.m ? 'line start' : 'text start')
    if (char === '$') return edge(this.#flags.m ? 'line end' : 'last line end')
    return this.#literal(char)
  }

  #automatonAtom(char: string): Node {
    if (char === '"') {
      const end = this.#source.indexOf('"', this.#at)
      if (end < 0) this.#fail('a quoted text is not closed')
      return this.#quoted(end, end + 1)
    }
    if ('&~<>@#'.includes(char))
      this.#fail(
        `the operator "${char}" is not supported. Write "\\${char}" for the character`,
      )
    return this.#literal(char)
  }

  #group(): Node {
    if (!this.#java || !this.#skip('?')) return this.#closed(this.#captured())
    const name = this.#take(/<([A-Za-z][A-Za-z0-9]*)>/y)?.[1]
    if (name !== undefined) {
      if (this.#groupNames.has(name)) this.#fail(`two groups are named "${name}"`)
      this.#groupNames.set(name, this.#groupCount + 1)
      return this.#closed(this.#captured())
    }
    const special = this.#take(/:|>|=|!|<=|<!/y)?.[0]
    switch (special) {
      case ':':
        return this.#closed(this.#choice())
      case '>':
        return this.#closed({ kind: 'atomic', of: this.#choice() })
      case undefined:
        return this.#flagGroup()
      default: {
        const ahead = !special.startsWith('<')
        const wanted = special.endsWith('=')
        return this.#closed({ kind: 'look', of: this.#choice(), ahead, wanted })
      }
    }
  }

  #captured(): Node {
    const number = ++this.#groupCount
    return { kind: 'group', of: this.#choice(), number }
  }

  #closed(node: Node): Node {
    if (!this.#skip(')')) this.#fail('"(" is not closed')
    return node
  }

  /** Parses flags. (?i) applies to the rest of the enclosing group, (?i:...) to its own content. */
  #flagGroup(): Node {
    const found = this.#take(/([imsu]*)(?:-([imsu]*))?([:)])/y)
    if (found === undefined)
      this.#fail('"(?" starts an unknown group. Flags can be i, m, s and u')
    const flags = this.#flags
    const changed = { ...flags }
    for (const flag of found[1]!) changed[flag as keyof Flags] = true
    for (const flag of found[2] ?? '') changed[flag as keyof Flags] = false
    this.#flags = changed
    if (found[3] === ')') return nothing
    const content = this.#choice()
    this.#flags = flags
    return this.#closed(content)
  }

  #escape(): Node {
    if (this.#at >= this.#source.length) this.#fail('it ends with a lone "\\"')
    if (this.#java) {
      const end = this.#edgeEscape()
      if (end !== undefined) return edge(end)
      const group = this.#take(/[1-9]\d?/y)?.[0] ?? this.#take(/k<(\w+)>/y)?.[1]
      if (group !== undefined) return this.#same(group)
      if (this.#skip('Q')) {
        const close = this.#source.indexOf('\\E', this.#at)
        return close < 0
          ? this.#quoted(this.#source.length, this.#source.length)
          : this.#quoted(close, close + 2)
      }
    }
    const set = this.#escapedSet()
    return this.#char(typeof set === 'number' ? oneChar(set) : set)
  }

  #edgeEscape(): Edge | undefined {
    if (this.#skip('A')) return 'text start'
    if (this.#skip('z')) return 'text end'
    if (this.#skip('Z')) return 'last line end'
    if (this.#skip('b')) return 'word edge'
    return this.#skip('B') ? 'no word edge' : undefined
  }

  #same(name: string): Node {
    const group = /^\d/.test(name) ? Number(name) : this.#groupNames.get(name)
    if (group === undefined || group > this.#groupCount)
      this.#fail(`"\\${name}" refers to a group that does not stand before it`)
    return { kind: 'same', group, ignoreCase: this.#flags.i }
  }

  #quoted(end: number, after: number): Node {
    const text = this.#source.slice(this.#at, end)
    this.#at = after
    const chars = Array.from(text, (char) => this.#literal(char))
    // In Java, a quantifier after a quotation applies to the last quoted character.
    const last = this.#java ? chars.pop() : undefined
    return { kind: 'sequence', of: last ? [...chars, this.#repeated(last)] : chars }
  }

  #literal(char: string): Node {
    const set = oneChar(char.codePointAt(0)!)
    // A lookup table for one character would cost more than the comparisons that it saves.
    return this.#flags.i ? this.#char(set) : { kind: 'char', set }
  }

  #char(set: CharSet): Node {
    return { kind: 'char', set: tabled(this.#flags.i ? ignoringCase(set) : set) }
  }

  /** Parses the content of "[": characters, ranges, classes, and intersections with "&&". */
  #class(): CharSet {
    if (++this.#depth > fixedLimits.patternDepthMax) this.#fail('it is nested too deeply')
    const negated = this.#skip('^')
    const joined: CharSet[] = []
    let sets: CharSet[] = []
    // A "]" at the start of the content is literal, because no class is empty.
    for (let first = true; first || !this.#skip(']'); first = false) {
      if (this.#at >= this.#source.length) this.#fail('"[" is not closed')
      if (this.#java && this.#skip('&&')) {
        joined.push(anyOf(sets))
        sets = []
      } else if (this.#java && this.#skip('[')) sets.push(this.#class())
      else sets.push(this.#classRange())
    }
    this.#depth--
    const set = joined.length === 0 ? anyOf(sets) : allOf([...joined, anyOf(sets)])
    return negated ? not(set) : set
  }

  #classRange(): CharSet {
    const first = this.#classChar()
    if (typeof first !== 'number') return first
    if (!this.#sees('-') || /^-[\]&[]/.test(this.#source.slice(this.#at, this.#at + 2)))
      return oneChar(first)
    this.#at++
    const last = this.#classChar()
    if (typeof last !== 'number' || last < first)
      this.#fail('a range in "[...]" has no end, or its start is greater than its end')
    return range(first, last)
  }

  #classChar(): CharSet | number {
    const char = this.#next()
    return char === '\\' ? this.#escapedSet() : char.codePointAt(0)!
  }

  /** Parses the character or class after a backslash. */
  #escapedSet(): CharSet | number {
    const char = this.#next()
    const lower = char.toLowerCase()
    const letterClass = letterClasses.get(lower)
    if (letterClass !== undefined) return char === lower ? letterClass : not(letterClass)
    if (lower === 'p') {
      const name = this.#take(/\{([^}]*)\}|\w/y)
      const set = name && namedClass(name[1] ?? name[0])
      if (!set) this.#fail(`there is no class "\\${char}${name?.[0] ?? ''}"`)
      return char === 'p' ? set : not(set)
    }
    const named = controlChars.get(char)
    if (named !== undefined) return named
    const octal = char === '0' ? this.#take(/[0-3]?[0-7]{1,2}/y)?.[0] : undefined
    if (octal !== undefined) return Number.parseInt(octal, 8)
    const hex = this.#hexadecimal(char)
    if (hex !== undefined) return hex
    if (/[A-Za-z0-9]/.test(char)) this.#fail(`"\\${char}" is not a known escape`)
    return char.codePointAt(0)!
  }

  #hexadecimal(char: string): number | undefined {
    const found =
      char === 'x'
        ? this.#take(/\{([0-9a-f]{1,6})\}|[0-9a-f]{2}/iy)
        : char === 'u'
          ? this.#take(/[0-9a-f]{4}/iy)
          : undefined
    if (found === undefined) return undefined
    const value = Number.parseInt(found[1] ?? found[0], 16)
    if (value > 0x10ffff) this.#fail(`"\\x${found[0]}" is not a character`)
    return value
  }

  #next(): string {
    const char = this.#source.codePointAt(this.#at)
    if (char === undefined) this.#fail('it ends too early')
    const text = String.fromCodePoint(char)
    this.#at += text.length
    return text
  }

  #sees(text: string): boolean {
    return this.#source.startsWith(text, this.#at)
  }

  #skip(text: string): boolean {
    if (!this.#sees(text)) return false
    this.#at += text.length
    return true
  }

  #take(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.#at
    const found = sticky.exec(this.#source) ?? undefined
    if (found !== undefined) this.#at += found[0].length
    return found
  }

  #fail(problem: string): never {
    throw new SyntaxError(`${problem} (at character ${this.#at})`)
  }
}

const nothing: Node = { kind: 'sequence', of: [] }

function edge(at: Edge): Node {
  return { kind: 'edge', edge: at }
}

const controlChars: ReadonlyMap<string, number> = new Map([
  ['t', 9],
  ['n', 10],
  ['f', 12],
  ['r', 13],
  ['a', 7],
  ['e', 27],
])
