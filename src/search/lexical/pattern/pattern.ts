/**
 * Regular expressions from clients.
 *
 * JavaScript's engine would let a pattern such as (a+)+b block the server for hours. This
 * implementation matches most patterns in time proportional to the text (match.ts); lookaround,
 * backreferences and possessive quantifiers may take longer. Every step is counted, and a request
 * that exceeds its budget is rejected.
 */
import type { StepBudget } from '../../../caller/analysis-budget.ts'
import { canRemember, PatternWalk, type Slots } from './match.ts'
import { parsePattern } from './parse-pattern.ts'
import { compile, isRegular } from './program.ts'

export interface Pattern {
  readonly groupCount: number
  readonly groupNames: ReadonlyMap<string, number>
  /** All non-overlapping matches in a text, from left to right. */
  matches(text: string, steps: StepBudget): Iterable<Match>
  /** Whether the pattern matches the text from start to end. */
  matchesWhole(text: string, steps: StepBudget): boolean
}

export interface Match {
  readonly start: number
  readonly end: number
  /** The text of a group; group 0 is the whole match. Undefined: the group did not take part. */
  group(number: number): string | undefined
}

/** Compiles a pattern. Throws a SyntaxError that describes the problem. */
export function compilePattern(source: string): Pattern {
  const { root, groupCount, groupNames } = parsePattern(source, 'java')
  const program = compile(root, groupCount)
  const linear = isRegular(program) ? compile(root, groupCount, 'bounded runs') : program

  function walkOver(text: string, steps: StepBudget): PatternWalk {
    return new PatternWalk(canRemember(linear, text) ? linear : program, text, steps)
  }

  function* matches(text: string, steps: StepBudget): Iterable<Match> {
    const walk = walkOver(text, steps)
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
      walkOver(text, steps).matchAt(0, text.length) !== undefined,
  }
}

/** UTF-16 code units of the character at a position; 1 also at the end. */
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
