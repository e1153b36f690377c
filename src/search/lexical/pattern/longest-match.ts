/**
 * Simple patterns as in Lucene: of all matches at a position, the longest counts. All alternatives
 * are followed at the same time, so the time is at most proportional to text times pattern.
 */
import { parsePattern } from './parse-pattern.ts'
import { compile, type PatternStep } from './program.ts'
import type { StepBudget } from '../../../caller/analysis-budget.ts'
import { charLengthAt } from './pattern.ts'

export interface SimplePattern {
  /** All longest matches from left to right, as start and end. No match is empty. */
  matches(text: string, steps: StepBudget): Iterable<readonly [start: number, end: number]>
}

/** Compiles a pattern. Throws a SyntaxError that describes the problem. */
export function compileSimplePattern(source: string): SimplePattern {
  const { root, groupCount } = parsePattern(source, 'automaton')
  const { steps, stepCost } = compile(root, groupCount, 'no runs')

  function* matches(text: string, count: StepBudget): Iterable<readonly [number, number]> {
    let from = 0
    while (from < text.length) {
      const charge = { take: (taken: number) => count.take(taken * stepCost) }
      const end = longestFrom(steps, text, from, charge)
      if (end > from) yield [from, end]
      from = end > from ? end : from + charLengthAt(text, from)
    }
  }

  return { matches }
}

/** End of the longest match; `start` if nothing matches. */
function longestFrom(
  steps: readonly PatternStep[],
  text: string,
  start: number,
  count: StepBudget,
): number {
  let end = start
  let position = start
  let places = reach(steps, [0], count)
  for (;;) {
    if (places.has(steps.length - 1)) end = position
    if (position >= text.length || places.size === 0) return end
    const char = text.codePointAt(position)!
    const entered: number[] = []
    for (const place of places) {
      const step = steps[place]!
      if (step.op === 'char' && step.set(char)) entered.push(place + 1)
    }
    position += char > 0xffff ? 2 : 1
    places = reach(steps, entered, count)
  }
}

/** Cost of adding a state to a set. */
const placeSteps = 8

/** All states that are reached without consuming a character. */
function reach(
  steps: readonly PatternStep[],
  from: readonly number[],
  count: StepBudget,
): ReadonlySet<number> {
  const reached = new Set<number>()
  const open = [...from]
  while (open.length > 0) {
    const place = open.pop()!
    if (reached.has(place)) continue
    reached.add(place)
    count.take(placeSteps)
    const step = steps[place]!
    if (step.op === 'fork') open.push(step.first, step.second)
    else if (step.op === 'jump') open.push(step.to)
    else if (step.op === 'save' || step.op === 'progress') open.push(place + 1)
  }
  return reached
}
