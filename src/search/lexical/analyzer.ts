/** Converts texts to terms with the analyzer of a collection. */
import {
  ownBudget,
  type AnalysisBudget,
  type StepBudget,
} from '../../caller/analysis-budget.ts'
import { AnalyzerTooLarge } from '../../errors/analyzer-too-large.ts'
import { defaultLimits } from '../../limits.ts'
import { AnalyzerCache } from './analyzer-cache.ts'
import { ArgumentProblem } from './arguments.ts'
import { builtIn, type Stages } from './built-in.ts'
import {
  makeCharFilter,
  makeTokenFilter,
  makeTokenizer,
  type Makers,
} from './components.ts'
import {
  keyOf,
  memoryFor,
  recipeOf,
  type GivenComponent,
  type Recipe,
} from './definition.ts'
import { lowercase, lowercased } from './filters/basic.ts'
import { atOnce, type Steps } from '../../runtime/steps.ts'
import type { Token } from './stage.ts'
import { standardTokenizer } from './tokenizers/standard.ts'
import { Words } from './tokenizers/words.ts'

export interface Analyzer {
  /** The terms of a text in order, with repetitions. */
  terms(text: string, bounds?: AnalysisBounds): readonly string[]
}

export interface AnalysisBounds {
  /** Bytes of terms in UTF-8 after which analysis may stop, because further terms are not used. */
  readonly sizeMax?: number
  /** Budget for the work. Throws when it is exceeded. */
  readonly budget?: AnalysisBudget
}

/** The terms of a text; undefined if they exceed `sizeMax` bytes. */
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

/**
 * Maximum bytes per UTF-16 code unit. Terms that fit by this estimate are not measured in bytes.
 */
const bytesMax = 3

/**
 * The analyzer for a validated recipe or the name of a built-in one. It is compiled at its first
 * use, unless `loadAnalyzer` compiled it before. Compiling throws AnalyzerTooLarge if the
 * definition is too large.
 */
export function analyzerFor(definition: unknown): Analyzer {
  const key = keyOf(definition)
  return {
    terms: (text, bounds) =>
      (compiled.get(key) ?? compileAtOnce(definition)).terms(text, bounds),
  }
}

/**
 * Whether the terms of texts stay the same in other versions of this server and of Node. Thai texts
 * may get other terms: Node's dictionary segments them, and since version 0.2 long texts are
 * segmented in windows.
 */
export function hasLastingTerms(definition: unknown): boolean {
  const recipe = recipeOf(definition)
  if (typeof recipe === 'string') return recipe.toLowerCase() !== 'thai'
  return (recipe as Recipe).tokenizer?.name.toLowerCase() !== 'thai'
}

/**
 * Compiles an analyzer in steps, so that `analyzerFor` finds it compiled. Returns undefined if the
 * analyzer is compiled already or built in. Throws ArgumentProblem if its arguments are invalid.
 */
export function loadAnalyzer(definition: unknown): Steps<unknown> | undefined {
  if (typeof definition !== 'object' || definition === null) return undefined
  return compiled.get(keyOf(definition)) === undefined ? compileInto(definition) : undefined
}

function compileAtOnce(definition: unknown): Analyzer {
  return atOnce(compileInto(definition))
}

function* compileInto(definition: unknown): Steps<Analyzer> {
  const size = memoryFor(definition)
  if (size > compiled.sizeMax) throw new AnalyzerTooLarge(size, compiled.sizeMax)
  const analyzer = analyzerOf(yield* stagesOf(recipeOf(definition)))
  compiled.add(keyOf(definition), analyzer, size)
  return analyzer
}

/** Compiled analyzers of this thread, by the key of their definition. */
const compiled = new AnalyzerCache<Analyzer>(defaultLimits.analyzerMemoryMax)

/** Sets the maximum bytes of the compiled analyzers of this thread. */
export function limitAnalyzerMemory(sizeMax: number): void {
  compiled.sizeMax = sizeMax
}

/** Evicts all compiled analyzers of this thread. */
export function evictAnalyzers(): void {
  compiled.clear()
}

/** Statistics of this thread's compiled analyzers, for tests. */
export function compiledAnalyzers(): Pick<AnalyzerCache<Analyzer>, 'loads' | 'size'> {
  return compiled
}

function* stagesOf(recipe: unknown): Steps<Stages> {
  if (typeof recipe === 'string') return builtIn(recipe.toLowerCase())
  const { charFilters, tokenizer, filters } = recipe as Recipe
  const stages = {
    charFilters: yield* makeAll(charFilters ?? [], 'char filter', makeCharFilter),
    tokenizer: yield* makeAll([tokenizer ?? keyword], 'tokenizer', makeTokenizer),
    filters: yield* makeAll(filters ?? [], 'token filter', makeTokenFilter),
  }
  return { ...stages, tokenizer: stages.tokenizer[0]! }
}

const keyword: GivenComponent = { name: 'keyword' }

function* makeAll<Stage>(
  given: readonly GivenComponent[],
  what: string,
  known: Makers<Stage>,
): Steps<readonly Stage[]> {
  const stages: Stage[] = []
  for (const { name, args } of given) {
    const make = known.get(name.toLowerCase())
    if (make === undefined) throw new Error(`there is no component "${name}"`)
    try {
      const made = make(new Map(Object.entries(args ?? {})))
      // `made` is either the compiled stage, which is a function, or the steps that compile it.
      const stage = typeof made === 'function' ? made : yield* made as Steps<Stage>
      stages.push(stage)
    } catch (error) {
      if (!(error instanceof ArgumentProblem)) throw error
      throw new ArgumentProblem(`the ${what} "${name}": ${error.message}`)
    }
    yield
  }
  return stages
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
        budget.take(clean.length >> 2)
        clean = change(clean, budget)
      }
      budget.take(clean.length >> 3)
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

/** Charges the fixed cost of a stage for each token. */
function* counted(tokens: Iterable<Token>, steps: StepBudget): Iterable<Token> {
  for (const token of tokens) {
    steps.take(tokenSteps + (token.text.length >> 1))
    yield token
  }
}

const tokenSteps = 16

/** Fast path without intermediate tokens for the analyzer that most collections use. */
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
