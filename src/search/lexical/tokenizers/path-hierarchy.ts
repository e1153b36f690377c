/** Paths with all of their ancestors: "/a/b" becomes "/a" and "/a/b". */
import { ArgumentProblem, countIn, flagIn } from '../arguments.ts'
import type { Arguments, Tokenizer } from '../stage.ts'
import { newToken } from './token.ts'

export function pathHierarchy(args: Arguments): Tokenizer {
  const delimiter = charIn(args, 'delimiter', '/')
  const replacement = charIn(args, 'replace', delimiter)
  const skip = countIn(args, 'skip', { min: 0, max: 1_000_000, default: 0 })
  const slices = flagIn(args, 'reverse', false) ? fromTheEnd : fromTheStart
  return function* (text) {
    let step = 1
    const replaced =
      replacement === delimiter ? text : text.replaceAll(delimiter, replacement)
    for (const [start, end] of slices(text, delimiter, skip)) {
      // All tokens have the same position, as alternatives for the path.
      yield newToken(replaced.slice(start, end), 'word', step)
      step = 0
    }
  }
}

type Slices = Iterable<readonly [start: number, end: number]>

/**
 * Positions of the prefixes of a path. Every part except the first starts with its delimiter; the
 * first `skip` parts are omitted.
 */
function* fromTheStart(text: string, delimiter: string, skip: number): Slices {
  if (text === '') return
  let start = 0
  let parts = 0
  // A leading delimiter belongs to the first part.
  let end = 0
  while (end < text.length) {
    const partStart = end
    const next = text.indexOf(delimiter, partStart + 1)
    end = next < 0 ? text.length : next
    if (parts === skip) start = partStart
    if (++parts > skip) yield [start, end]
  }
}

/**
 * Positions of the suffixes of a path. Every part except the last ends with its delimiter; the last
 * `skip` parts are omitted.
 */
function* fromTheEnd(text: string, delimiter: string, skip: number): Slices {
  const starts = [0]
  for (let at = text.indexOf(delimiter); at >= 0; at = text.indexOf(delimiter, at + 1))
    starts.push(at + 1)
  if (starts.at(-1)! < text.length) starts.push(text.length)
  const end = starts[starts.length - 1 - skip]
  for (const start of starts.slice(0, Math.max(0, starts.length - 1 - skip)))
    yield [start, end!]
}

function charIn(args: Arguments, name: string, otherwise: string): string {
  const char = args.get(name) ?? otherwise
  if (char.length !== 1)
    throw new ArgumentProblem(`"${name}" cannot be "${char}". It must be one character`)
  return char
}
