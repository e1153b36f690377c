/**
 * Reads the arguments of a component. Names and types were validated by the catalog; components
 * validate further restrictions where they read an argument.
 */
import { Pace, type Steps } from '../../runtime/steps.ts'
import { compilePattern, type Pattern } from './pattern/pattern.ts'
import type { Arguments } from './stage.ts'

/** An invalid argument; the message is for the author of the analyzer. */
export class ArgumentProblem extends Error {}

export function countIn(
  args: Arguments,
  name: string,
  range: { readonly min?: number; readonly max: number; readonly default?: number },
): number {
  const { min = 1, max } = range
  const count = Number(args.get(name) ?? range.default)
  if (!(count >= min && count <= max))
    throw new ArgumentProblem(`"${name}" is ${count}, but must be from ${min} to ${max}`)
  return count
}

/** Checks that the first count does not exceed the second. */
export function checkOrder(
  [smallName, small]: readonly [string, number],
  [largeName, large]: readonly [string, number],
): void {
  if (small > large)
    throw new ArgumentProblem(
      `"${smallName}" is ${small}, but must not exceed "${largeName}", which is ${large}`,
    )
}

/** Whether a flag is "true" or "1"; `otherwise` if the argument is absent. */
export function flagIn(args: Arguments, name: string, otherwise: boolean): boolean {
  const flag = args.get(name)?.toLowerCase()
  return flag === undefined ? otherwise : flag === 'true' || flag === '1'
}

export function choiceIn<Choice extends string>(
  args: Arguments,
  name: string,
  choices: readonly [Choice, ...Choice[]],
): Choice {
  const given = args.get(name)?.toLowerCase() ?? choices[0]
  const choice = choices.find((one) => one.toLowerCase() === given)
  if (choice === undefined)
    throw new ArgumentProblem(
      `"${name}" cannot be "${args.get(name)}". It must be: ${choices.join(' or ')}`,
    )
  return choice
}

export function patternIn(args: Arguments): Pattern {
  const source = args.get('pattern') ?? ''
  try {
    return compilePattern(source)
  } catch (error) {
    throw asProblem('pattern', source, error)
  }
}

export function asProblem(name: string, source: string, error: unknown): unknown {
  if (!(error instanceof SyntaxError)) return error
  return new ArgumentProblem(`"${name}" cannot be "${source}": ${error.message}`)
}

/**
 * Splits a list at commas and line breaks; "\," is a comma within an entry. Lucene reads such lists
 * from files. Skips empty entries, and comments, which start with "#".
 */
export function* entriesIn(list: string): Steps<readonly string[]> {
  const entries: string[] = []
  const pace = new Pace()
  for (const part of list.split(/(?<!\\)[,\n\r]/)) {
    if (pace.isDue()) yield
    const entry = part.replaceAll('\\,', ',').trim()
    if (entry !== '' && !entry.startsWith('#')) entries.push(entry)
  }
  return entries
}

/** The two sides of an entry such as "a => b"; undefined if the entry does not contain `sign`. */
export function pairIn(entry: string, sign = '=>'): readonly [string, string] | undefined {
  const at = entry.indexOf(sign)
  if (at < 0) return undefined
  return [entry.slice(0, at).trim(), entry.slice(at + sign.length).trim()]
}

/** The words of a list; undefined if the argument is absent. */
export function* wordsIn(
  args: Arguments,
  name: string,
): Steps<ReadonlySet<string> | undefined> {
  const list = args.get(name)
  if (list === undefined) return undefined
  const format = args.has('format')
    ? choiceIn(args, 'format', ['wordset', 'snowball'])
    : 'wordset'
  const words = new Set<string>()
  const pace = new Pace()
  for (const entry of yield* entriesIn(list)) {
    if (pace.isDue()) yield
    if (format === 'wordset') words.add(entry)
    else for (const word of snowballWords(entry)) words.add(word)
  }
  return words
}

/**
 * The words of a line in a Snowball list, which has several words per line, and comments after a
 * bar.
 */
function snowballWords(line: string): readonly string[] {
  const words = line.replace(/\|.*/, '').split(/\s+/)
  return words.filter((word) => word !== '')
}
