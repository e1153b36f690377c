/**
 * Replaces or extends words by synonyms. A rule "a, b => c" replaces words; "a, b" treats them as
 * equivalent. A side may consist of several words: "new york".
 */
import { ArgumentProblem, choiceIn, flagIn } from '../arguments.ts'
import type { StepBudget } from '../../../caller/analysis-budget.ts'
import { Pace, type Steps } from '../../../runtime/steps.ts'
import type { Arguments, Token, TokenFilter } from '../stage.ts'
import { fixedLimits } from '../../../limits.ts'

const { synonymWordsMax } = fixedLimits

export function* synonyms(args: Arguments): Steps<TokenFilter> {
  choiceIn(args, 'format', ['solr'])
  const ignoreCase = flagIn(args, 'ignoreCase', false)
  const expand = flagIn(args, 'expand', true)
  const list = args.get('synonyms') ?? ''
  const root = yield* treeOf(ignoreCase ? list.toLowerCase() : list, expand)
  const keyOf = (token: Token) => (ignoreCase ? token.text.toLowerCase() : token.text)

  return function* (tokens, steps) {
    const source = tokens[Symbol.iterator]()
    /** Tokens that were read ahead to match a phrase. */
    const window: Token[] = []
    const at = (place: number): Token | undefined => {
      while (window.length <= place) {
        const next = source.next()
        if (next.done === true) return undefined
        window.push(next.value)
      }
      return window[place]
    }
    for (let first; (first = at(0)) !== undefined;) {
      const found = longestFrom(root, at, keyOf, steps)
      if (found === undefined) {
        yield first
        window.shift()
      } else yield* replaced(window.splice(0, found.size), joined(found.said, steps), steps)
    }
  }
}

interface Rule {
  readonly from: readonly Phrase[]
  /** Phrases that replace those of `from`; absent: the phrases of `from` are equivalent. */
  readonly to?: readonly Phrase[]
}

/** Consecutive words. */
type Phrase = readonly string[]

/**
 * Parses rules. Line breaks separate rules. If the commas within rules are escaped as "\,", plain
 * commas also separate rules. Otherwise a line may contain several rules with "=>": each ends after
 * the first phrase that follows its "=>", and the last one at the end of the line.
 */
function* readRules(list: string): Iterable<readonly Rule[]> {
  if (list.includes('\\,'))
    for (const rule of list.split(/(?<!\\)[,\n\r]/)) yield readRule(rule.split('\\,'))
  else for (const line of list.split(/[\n\r]/)) yield* readLine(line)
}

function* readLine(line: string): Iterable<readonly Rule[]> {
  const parts = line.split(',')
  const arrows = parts.flatMap((part, i) => (part.includes('=>') ? [i] : []))
  let start = 0
  for (const arrow of arrows) {
    const isLast = arrow === arrows.at(-1)
    const end = isLast ? parts.length : arrow + 1
    yield readRule(parts.slice(start, end))
    start = end
  }
  if (arrows.length === 0) yield readRule(parts)
}

function readRule(parts: readonly string[]): readonly Rule[] {
  const rule = parts.join(',')
  if (rule.trim() === '' || rule.trim().startsWith('#')) return []
  const [from, to, more] = rule.split('=>')
  if (more !== undefined) throw new ArgumentProblem(`"synonyms" has two "=>" in "${rule}"`)
  const phrases = phrasesOf(from!)
  if (to === undefined) return [{ from: phrases }]
  const meanings = phrasesOf(to)
  if (phrases.length === 0 || meanings.length === 0)
    throw new ArgumentProblem(
      `"synonyms" must have words on both sides of "=>" in "${rule}"`,
    )
  return [{ from: phrases, to: meanings }]
}

function phrasesOf(list: string): readonly Phrase[] {
  const phrases = list
    .split(',')
    .map((phrase) => phrase.trim().split(/\s+/))
    .filter(([first]) => first !== '')
  if (phrases.some((phrase) => phrase.length > synonymWordsMax))
    throw new ArgumentProblem(
      `"synonyms" has more than ${synonymWordsMax} words in a sequence, the maximum`,
    )
  return phrases
}

/** A trie of phrases, one word per level. */
interface Branch {
  next?: Map<string, Branch>
  /** Meanings of the phrase that this branch completes; absent: no phrase ends here. */
  said?: Meaning[]
}

interface Meaning {
  readonly phrases: readonly Phrase[]
  /** Whether the original words are kept. */
  readonly keeps: boolean
}

function* treeOf(list: string, expand: boolean): Steps<Branch> {
  const root: Branch = {}
  const pace = new Pace()
  for (const rules of readRules(list))
    for (const { from, to } of rules) {
      if (pace.isDue()) yield
      const meaning: Meaning =
        to !== undefined
          ? { phrases: distinct(to), keeps: false }
          : { phrases: expand ? distinct(from) : from.slice(0, 1), keeps: expand }
      for (const phrase of from) {
        if (pace.isDue()) yield
        const branch = branchOf(root, phrase)
        branch.said ??= []
        branch.said.push(meaning)
      }
    }
  return root
}

function branchOf(root: Branch, phrase: Phrase): Branch {
  let branch = root
  for (const word of phrase) {
    branch.next ??= new Map()
    let next = branch.next.get(word)
    if (next === undefined) branch.next.set(word, (next = {}))
    branch = next
  }
  return branch
}

function longestFrom(
  root: Branch,
  tokenAt: (place: number) => Token | undefined,
  keyOf: (token: Token) => string,
  steps: StepBudget,
): { readonly size: number; readonly said: readonly Meaning[] } | undefined {
  let branch: Branch | undefined = root
  let found: { size: number; said: readonly Meaning[] } | undefined
  for (let size = 0; branch !== undefined; size++) {
    if (branch.said !== undefined) found = { size, said: branch.said }
    // A token is read ahead only if a phrase can continue.
    const token: Token | undefined = branch.next && tokenAt(size)
    steps.take(4)
    branch = token && branch.next?.get(keyOf(token))
  }
  return found
}

/**
 * Merges all rules for a phrase. The result is not cached: the cache would contain a copy of a long
 * rule for each of its phrases.
 */
function joined(said: readonly Meaning[], steps: StepBudget): Meaning {
  if (said.length === 1) return said[0]!
  const phrases = said.flatMap((one) => one.phrases)
  steps.take(joinSteps * phrases.length)
  return { phrases: distinct(phrases), keeps: said.some((one) => one.keeps) }
}

/** Cost of comparing a phrase with others. */
const joinSteps = 8

function distinct(phrases: readonly Phrase[]): readonly Phrase[] {
  return [...new Map(phrases.map((phrase) => [phrase.join(' '), phrase])).values()]
}

/**
 * The tokens of the phrases. Words of different phrases at the same index have the same position.
 */
function* replaced(
  tokens: readonly Token[],
  { phrases, keeps }: Meaning,
  steps: StepBudget,
): Iterable<Token> {
  steps.take(8 * phrases.length)
  const own = tokens.map(({ text }) => text).join(' ')
  const others = keeps ? phrases.filter((phrase) => phrase.join(' ') !== own) : phrases
  const places = others.reduce(
    (most, { length }) => Math.max(most, length),
    keeps ? tokens.length : 0,
  )
  for (let place = 0; place < places; place++) {
    let step = tokens[place]?.step ?? 1
    if (keeps && place < tokens.length) {
      yield tokens[place]!
      step = 0
    }
    steps.take(others.length)
    for (const phrase of others) {
      const text = phrase[place]
      if (text === undefined) continue
      yield { text, step, keyword: false, kind: 'synonym' }
      step = 0
    }
  }
}
