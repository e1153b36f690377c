/**
 * Regular expressions that clients bring along.
 *
 * JavaScript's own would let a pattern such as (a+)+b hold up the server for hours. These
 * are walked by us, with every step counted: a text that takes too many is refused. So the
 * time is bounded whatever the pattern, and patterns that behave never notice.
 */
import { apiError } from '../../../errors/api-error.ts'
import { Walk, type Slots } from './match.ts'
import type { Token } from '../stage.ts'
import { parsePattern } from './parse-pattern.ts'
import { compile } from './program.ts'

export interface Pattern {
  readonly groupCount: number
  readonly groupNames: ReadonlyMap<string, number>
  /** All matches of a text, from left to right, not overlapping. */
  matches(text: string, steps: StepCount): Iterable<Match>
  /** Whether it matches a text from start to end. */
  matchesWhole(text: string, steps: StepCount): boolean
}

export interface Match {
  readonly start: number
  readonly end: number
  /** What a group matched, 0 for all; undefined: it took no part. */
  group(number: number): string | undefined
}

/** Throws SyntaxError with what is wrong with it. */
export function compilePattern(source: string): Pattern {
  const { root, groupCount, groupNames } = parsePattern(source, 'java')
  const program = compile(root, groupCount)

  function* matches(text: string, steps: StepCount): Iterable<Match> {
    const walk = new Walk(program, text, steps)
    let from = 0
    while (from <= text.length) {
      const slots = walk.matchAt(from)
      if (slots === undefined) from += charLengthAt(text, from)
      else {
        const match = matchOf(text, slots)
        yield match
        from = match.end > from ? match.end : from + charLengthAt(text, from)
      }
    }
  }

  return {
    groupCount,
    groupNames,
    matches,
    matchesWhole: (text, steps) =>
      new Walk(program, text, steps).matchAt(0, text.length) !== undefined,
  }
}

/** Counts the steps that the patterns of one stage take on one text. */
export class StepCount {
  #left: number

  /** Takes the characters that the patterns will see. */
  constructor(length: number) {
    // A behaving pattern takes a few steps a character; short texts may take many more.
    this.#left = 3_000_000 + 8 * length
  }

  static forTokens(tokens: readonly Token[]): StepCount {
    return new StepCount(tokens.reduce((length, { text }) => length + text.length, 0))
  }

  take(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) this.refuse()
  }

  refuse(): never {
    throw apiError('TEXT_TOO_SLOW_TO_ANALYZE')
  }
}

/** How many places the character at a position takes; 1 also at the end. */
export function charLengthAt(text: string, position: number): number {
  return (text.codePointAt(position) ?? 0) > 0xffff ? 2 : 1
}

function matchOf(text: string, slots: Slots): Match {
  return {
    start: slots[0]!,
    end: slots[1]!,
    group: (number) => {
      const start = slots[2 * number]!
      const end = slots[2 * number + 1]!
      return start < 0 || end < 0 ? undefined : text.slice(start, end)
    },
  }
}
