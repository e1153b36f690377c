/**
 * Replaces words, or adds to them, what means the same. A rule is "a, b => c", which
 * replaces, or "a, b", which takes each for the other. Words may be several: "new york".
 */
import { ArgumentProblem, choiceIn, flagIn } from '../arguments.ts'
import type { StepBudget } from '../../../analysis-budget.ts'
import type { Arguments, Token, TokenFilter } from '../stage.ts'
import { fixedLimits } from '../../../limits.ts'

const { synonymWordsMax } = fixedLimits

export function synonyms(args: Arguments): TokenFilter {
  choiceIn(args, 'format', ['solr'])
  const ignoreCase = flagIn(args, 'ignoreCase', false)
  const expand = flagIn(args, 'expand', true)
  const list = args.get('synonyms') ?? ''
  const root = treeOf(readRules(ignoreCase ? list.toLowerCase() : list), expand)
  const keyOf = (token: Token) => (ignoreCase ? token.text.toLowerCase() : token.text)

  return function* (tokens, steps) {
    const source = tokens[Symbol.iterator]()
    /** Tokens that were read to see whether a phrase goes on with them. */
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
      } else yield* replaced(window.splice(0, found.size), meaningOf(found.branch), steps)
    }
  }
}

interface Rule {
  readonly from: readonly Phrase[]
  /** Absent: each of the phrases means the others. */
  readonly to?: readonly Phrase[]
}

/** Words that stand one after the other. */
type Phrase = readonly string[]

/**
 * Rules stand on lines or, where a rule's own commas are written as "\,", between commas.
 * With plain commas only, each "=>" makes a rule of the words around it; words between two
 * belong to the later one.
 */
function readRules(list: string): readonly Rule[] {
  if (list.includes('\\,'))
    return list.split(/(?<!\\)[,\n\r]/).flatMap((rule) => readRule(rule.split('\\,')))
  return list.split(/[\n\r]/).flatMap(readLine)
}

function readLine(line: string): readonly Rule[] {
  const parts = line.split(',')
  const arrows = parts.flatMap((part, i) => (part.includes('=>') ? [i] : []))
  const rules: Rule[] = []
  let start = 0
  for (const arrow of arrows) {
    const isLast = arrow === arrows.at(-1)
    const end = isLast ? parts.length : arrow + 1
    rules.push(...readRule(parts.slice(start, end)))
    start = end
  }
  return arrows.length === 0 ? readRule(parts) : rules
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
    throw new ArgumentProblem(`"synonyms" needs words on both sides of "=>" in "${rule}"`)
  return [{ from: phrases, to: meanings }]
}

function phrasesOf(list: string): readonly Phrase[] {
  const phrases = list
    .split(',')
    .map((phrase) => phrase.trim().split(/\s+/))
    .filter(([first]) => first !== '')
  if (phrases.some((phrase) => phrase.length > synonymWordsMax))
    throw new ArgumentProblem(`"synonyms" has more than ${synonymWordsMax} words in a row`)
  return phrases
}

/** Phrases by their words, one word a level. */
interface Branch {
  readonly next: Map<string, Branch>
  /** What the rules say of the phrase that ends here; empty: none ends here. */
  readonly said: Meaning[]
  /** All of that together, once it was asked for. */
  meaning?: Meaning
}

interface Meaning {
  readonly phrases: readonly Phrase[]
  /** Whether the words themselves stay. */
  readonly keeps: boolean
}

function treeOf(rules: readonly Rule[], expand: boolean): Branch {
  const root = newBranch()
  for (const { from, to } of rules) {
    const meaning: Meaning =
      to !== undefined
        ? { phrases: to, keeps: false }
        : { phrases: expand ? from : from.slice(0, 1), keeps: expand }
    for (const phrase of from) branchOf(root, phrase).said.push(meaning)
  }
  return root
}

function newBranch(): Branch {
  return { next: new Map(), said: [] }
}

function branchOf(root: Branch, phrase: Phrase): Branch {
  let branch = root
  for (const word of phrase) {
    const next = branch.next.get(word) ?? newBranch()
    branch.next.set(word, next)
    branch = next
  }
  return branch
}

function longestFrom(
  root: Branch,
  tokenAt: (place: number) => Token | undefined,
  keyOf: (token: Token) => string,
  steps: StepBudget,
): { readonly size: number; readonly branch: Branch } | undefined {
  let branch: Branch | undefined = root
  let found: { size: number; branch: Branch } | undefined
  for (let size = 0; branch !== undefined; size++) {
    if (branch.said.length > 0) found = { size, branch }
    // Nothing is read ahead where no phrase goes on.
    const token: Token | undefined = branch.next.size === 0 ? undefined : tokenAt(size)
    steps.take(4)
    branch = token && branch.next.get(keyOf(token))
  }
  return found
}

function meaningOf(branch: Branch): Meaning {
  if (branch.meaning === undefined) {
    const phrases = branch.said.flatMap((one) => one.phrases)
    const distinct = new Map(phrases.map((phrase) => [phrase.join(' '), phrase]))
    const keeps = branch.said.some((one) => one.keeps)
    branch.meaning = { phrases: [...distinct.values()], keeps }
  }
  return branch.meaning
}

/** Words of several phrases that come at the same turn stand at the same place. */
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
