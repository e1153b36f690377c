/** Tokenizers that split at a client's pattern. */
import { ArgumentProblem, asProblem, patternIn } from '../arguments.ts'
import { compileSimplePattern, type SimplePattern } from '../pattern/longest-match.ts'
import type { Arguments, Token, Tokenizer } from '../stage.ts'
import { newToken } from './token.ts'

/** Tokens are the matches of a group, or with group -1 the text between matches. */
export function pattern(args: Arguments): Tokenizer {
  const separator = patternIn(args)
  const group = Number(args.get('group') ?? -1)
  if (group < -1 || group > separator.groupCount)
    throw new ArgumentProblem(
      `"group" is ${group}, but must be from -1 to ${separator.groupCount}, ` +
        'the number of groups in "pattern"',
    )
  return (text, steps) => {
    const matches = separator.matches(text, steps)
    if (group === -1)
      return between(
        text,
        mapped(matches, ({ start, end }) => [start, end]),
      )
    return asTokens(mapped(matches, (match) => match.group(group) ?? ''))
  }
}

/** Tokens are the matches of the pattern. */
export function simplePattern(args: Arguments): Tokenizer {
  const word = simplePatternIn(args)
  return (text, steps) => {
    const matches = word.matches(text, steps)
    return asTokens(mapped(matches, ([start, end]) => text.slice(start, end)))
  }
}

/** Tokens are the text between matches. */
export function simplePatternSplit(args: Arguments): Tokenizer {
  const separator = simplePatternIn(args)
  return (text, steps) => between(text, separator.matches(text, steps))
}

function simplePatternIn(args: Arguments): SimplePattern {
  const source = args.get('pattern') ?? ''
  try {
    return compileSimplePattern(source)
  } catch (error) {
    throw asProblem('pattern', source, error)
  }
}

function between(text: string, separators: Iterable<readonly [number, number]>) {
  function* parts() {
    let from = 0
    for (const [start, end] of separators) {
      yield text.slice(from, start)
      from = end
    }
    yield text.slice(from)
  }
  return asTokens(parts())
}

function* asTokens(texts: Iterable<string>): Iterable<Token> {
  for (const text of texts) if (text !== '') yield newToken(text)
}

function* mapped<From, To>(from: Iterable<From>, change: (one: From) => To): Iterable<To> {
  for (const one of from) yield change(one)
}
