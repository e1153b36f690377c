/**
 * Phrases in prose that often need a second reading: descriptions of a thing for which there is a
 * standard term, and sentences without a subject. A match is a place to look at, not necessarily a
 * mistake.
 */
export interface Habit {
  readonly name: string
  readonly pattern: RegExp
}

export const habits: readonly Habit[] = [
  {
    name: 'no subject',
    pattern: /^(?:of|in which|for whom|by which|whose|whoever)\b[^?]*$/i,
  },
  {
    name: 'described by what it is not',
    pattern:
      /\b(?:what|who|which|that) (?:is|are|was|has|have|can) (?:no|none|nothing|nobody)\b/i,
  },
  { name: 'that is none', pattern: /\b(?:that|there) (?:is|are) none\b|\bis none[.,;]/i },
  {
    name: 'said, told or taken of something',
    pattern:
      /\b(?:is|are|was|were) (?:told|said|held|taken) (?:as|of|by|for|which|what)\b/i,
  },
  { name: 'nobody, somebody', pattern: /\b(?:nobody|somebody|whoever|anybody)\b/i },
  {
    name: 'so many of something',
    pattern: /\bin so many\b|\bso many of\b|\bas many to\b/i,
  },
  {
    name: 'all that, those that',
    pattern: /\b(?:all|those|others) (?:that|who|which|whose)\b/i,
  },
  {
    name: 'stands for',
    pattern: /\b(?:stands?|stood) (?:there|beside|alone)\b|\bgoes by\b/i,
  },
  {
    name: 'idiom',
    pattern: /\b(?:the other way round|and the like|of old|from before|for good)\b/i,
  },
]

/** Names of the habits that a line of prose has. */
export function habitsIn(line: string): string[] {
  return habits.filter(({ pattern }) => pattern.test(line)).map(({ name }) => name)
}

const comment = /^\s*(?:\/\/+|\/\*\*?|\*)\s?(.*?)(?:\*\/)?$/
const title = /\b(?:test|describe|it)\(\s*(['"`])(.+?)\1/

/** Lines of prose with their numbers: comments and test titles of code, text of pages. */
export function* proseIn(
  path: string,
  text: string,
): Generator<readonly [line: number, prose: string]> {
  const isPage = path.endsWith('.md')
  let isCode = false
  for (const [at, line] of text.split('\n').entries()) {
    if (isPage && line.startsWith('```')) isCode = !isCode
    if (isPage) {
      const isProse = !isCode && line !== '' && !/^[|<`]/.test(line)
      if (isProse) yield [at + 1, line.replace(/^[#\-*\d.\s]+/, '')]
      continue
    }
    for (const pattern of [comment, title]) {
      const found = pattern.exec(line)?.at(-1)
      if (found !== undefined && found !== '') yield [at + 1, found]
    }
  }
}

/** The reason why the subject of a commit is rejected; undefined if it is accepted. */
export function subjectProblem(subject: string): string | undefined {
  if (subject.length > subjectMax)
    return `has ${subject.length} characters, not ${subjectMax}`
  const [, verb] = /^[\w/., -]+: (\S+)/.exec(subject) ?? []
  if (verb === undefined) return 'does not start with an area and a colon'
  if (notImperative.test(verb)) return `"${verb}" is not an imperative`
  return undefined
}

const subjectMax = 72
const notImperative =
  /^(?:an?|the|what|who|which|one|of|in|on|all|no|that|this|these|those|it|there|[a-z]+ing|(?!.*ss$)[a-z]{3,}s)$/i
