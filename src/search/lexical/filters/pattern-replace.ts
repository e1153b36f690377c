/** Replaces matches of a client's pattern, in tokens or in a whole text. */
import { ArgumentProblem, choiceIn, patternIn } from '../arguments.ts'
import { TextBuilder } from '../text-builder.ts'
import type { Match, Pattern } from '../pattern/pattern.ts'
import type { Arguments, CharFilter, TokenFilter } from '../stage.ts'
import { mapTexts, type TokenChange } from './basic.ts'

export function patternReplaceFilter(args: Arguments): TokenFilter {
  return mapTexts(replacer(args, choiceIn(args, 'replace', ['all', 'first'])))
}

export function patternReplaceCharFilter(args: Arguments): CharFilter {
  return replacer(args, 'all')
}

function replacer(args: Arguments, which: 'all' | 'first'): TokenChange {
  const pattern = patternIn(args)
  const replacement = readReplacement(args.get('replacement') ?? '', pattern)
  return (text, steps) => {
    const made = new TextBuilder(steps)
    let from = 0
    for (const match of pattern.matches(text, steps)) {
      made.add(text.slice(from, match.start))
      for (const piece of replacement)
        made.add(typeof piece === 'string' ? piece : textOf(match, piece))
      from = match.end
      if (which === 'first') break
    }
    made.add(text.slice(from))
    return made.toString()
  }
}

/** Literal text, and numbers of groups to insert. */
type Replacement = readonly (string | number)[]

/** Parses a replacement: "$1" and "${name}" are groups; a backslash escapes the next character. */
function readReplacement(source: string, pattern: Pattern): Replacement {
  const pieces: (string | number)[] = []
  for (const [part, escaped, digits, name, char] of source.matchAll(
    /\\([^])|\$(\d)|\$\{(\w+)\}|([^$\\])|[$\\]/gu,
  )) {
    if (digits !== undefined) pieces.push(groupNumber(Number(digits), part, pattern))
    else if (name !== undefined)
      pieces.push(groupNumber(pattern.groupNames.get(name), part, pattern))
    else if (escaped === undefined && char === undefined)
      throw new ArgumentProblem(
        `"replacement" has a "${part}" that starts nothing. Write "\\${part}" for the sign`,
      )
    else {
      const plain = escaped ?? char!
      const last = pieces.at(-1)
      if (typeof last === 'string') pieces[pieces.length - 1] = last + plain
      else pieces.push(plain)
    }
  }
  return pieces
}

function groupNumber(number: number | undefined, part: string, pattern: Pattern): number {
  if (number === undefined || number > pattern.groupCount)
    throw new ArgumentProblem(
      `"replacement" has "${part}", but "pattern" has no such group`,
    )
  return number
}

function textOf(match: Match, group: number): string {
  return match.group(group) ?? ''
}
