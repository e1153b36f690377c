/** Turns texts into terms, as the analyzer of a collection says. */
import { ownBudget, type AnalysisBudget, type StepBudget } from '../../analysis-budget.ts'
import { builtIn, type Stages } from './built-in.ts'
import {
  makeCharFilter,
  makeTokenFilter,
  makeTokenizer,
  type Makers,
} from './components.ts'
import { lowercase, lowercased } from './filters/basic.ts'
import type { Token } from './stage.ts'
import { standardTokenizer } from './tokenizers/standard.ts'
import { Words } from './tokenizers/words.ts'

export interface Analyzer {
  /** The terms of a text in order, repeats included. */
  terms(text: string, bounds?: AnalysisBounds): readonly string[]
}

export interface AnalysisBounds {
  /** UTF-8 bytes of terms after which it may stop: with more, they are of no use. */
  readonly sizeMax?: number
  /** What to charge the work to. Throws when it is used up. */
  readonly budget?: AnalysisBudget
}

/** The terms of a text, or undefined if they take more bytes than they may. */
export function termsWithin(
  analyzer: Analyzer,
  text: string,
  bounds: AnalysisBounds & { readonly sizeMax: number },
): readonly string[] | undefined {
  const terms = analyzer.terms(text, bounds)
  return isWithin(terms, bounds.sizeMax) ? terms : undefined
}

function isWithin(terms: readonly string[], sizeMax: number): boolean {
  let length = 0
  for (const term of terms) length += term.length
  if (length * bytesMax <= sizeMax) return true
  return terms.reduce((sum, term) => sum + Buffer.byteLength(term), 0) <= sizeMax
}

/** Bytes that a character takes at most: short texts need not be counted byte by byte. */
const bytesMax = 3

/** The analyzer that a checked recipe, or the name of a built-in one, describes. */
export function analyzerFor(recipe: unknown): Analyzer {
  const key = JSON.stringify(recipe)
  const known = analyzers.get(key)
  if (known !== undefined) return known
  const analyzer = analyzerOf(stagesOf(recipe))
  if (analyzers.size >= analyzersMax) analyzers.clear()
  analyzers.set(key, analyzer)
  return analyzer
}

/** Collections share analyzers, of which there are few. */
const analyzers = new Map<string, Analyzer>()
const analyzersMax = 1_000

function stagesOf(recipe: unknown): Stages {
  if (typeof recipe === 'string') return builtIn(recipe.toLowerCase())
  const { charFilters, tokenizer, filters } = recipe as Recipe
  return {
    charFilters: (charFilters ?? []).map((one) => make(one, makeCharFilter)),
    tokenizer: make(tokenizer ?? { name: 'keyword' }, makeTokenizer),
    filters: (filters ?? []).map((one) => make(one, makeTokenFilter)),
  }
}

/** Plain data; null counts as absent. */
interface Recipe {
  readonly charFilters?: readonly GivenComponent[] | null
  readonly tokenizer?: GivenComponent | null
  readonly filters?: readonly GivenComponent[] | null
}

interface GivenComponent {
  readonly name: string
  readonly args?: Readonly<Record<string, string>> | null
}

function make<Stage>({ name, args }: GivenComponent, known: Makers<Stage>): Stage {
  const found = known.get(name.toLowerCase())
  if (found === undefined) throw new Error(`nothing is known to make "${name}"`)
  return found(new Map(Object.entries(args ?? {})))
}

function analyzerOf({ charFilters, tokenizer, filters }: Stages): Analyzer {
  const isStandard =
    charFilters.length === 0 &&
    tokenizer === standardTokenizer &&
    filters.length === 1 &&
    filters[0] === lowercase
  if (isStandard) return { terms: lowerCaseWords }
  return {
    terms(text, { sizeMax = Infinity, budget = ownBudget() } = {}) {
      let clean = text
      for (const change of charFilters) {
        budget.take(clean.length >> 1)
        clean = change(clean, budget)
      }
      budget.take(clean.length >> 2)
      let tokens = counted(tokenizer(clean, budget), budget)
      for (const filter of filters) tokens = counted(filter(tokens, budget), budget)
      const terms: string[] = []
      let size = 0
      for (const { text: term } of tokens) {
        terms.push(term)
        size += Buffer.byteLength(term)
        if (size > sizeMax) break
      }
      return terms
    },
  }
}

/** What every stage costs, whatever it does, for each token that it makes. */
function* counted(tokens: Iterable<Token>, steps: StepBudget): Iterable<Token> {
  for (const token of tokens) {
    steps.take(tokenSteps + (token.text.length >> 1))
    yield token
  }
}

const tokenSteps = 16

/** What most collections use, so without anything in between. */
function lowerCaseWords(
  text: string,
  { sizeMax = Infinity, budget = ownBudget() }: AnalysisBounds = {},
): readonly string[] {
  const words = new Words(text, budget)
  const terms: string[] = []
  const isShort = text.length * bytesMax <= sizeMax
  let size = 0
  while (size <= sizeMax && words.next()) {
    const term = lowercased(text.slice(words.start, words.end))
    terms.push(term)
    if (!isShort) size += Buffer.byteLength(term)
  }
  return terms
}
