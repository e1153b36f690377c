/** Turns texts into terms, as the analyzer of a collection says. */
import { TooLong } from './bounds.ts'
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
  /**
   * The terms of a text in order, repeats included. With a bound, it may stop as soon as
   * they take more bytes than that.
   *
   * Far beyond what an index takes of a text (bounds.ts), the work ends early, and the terms
   * are whatever there was by then: too many for anyone to go on with.
   */
  terms(text: string, bound?: { readonly tokenSizeMax: number }): readonly string[]
}

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
  if (isStandard)
    return { terms: (text, bound) => lowerCaseWords(text, bound?.tokenSizeMax) }
  return {
    terms(text) {
      try {
        const clean = charFilters.reduce((changed, change) => change(changed), text)
        const tokens: readonly Token[] = tokenizer(clean)
        return filters.reduce((made, filter) => filter(made), tokens).map(textOf)
      } catch (error) {
        if (error instanceof TooLong) return error.made
        throw error
      }
    },
  }
}

function textOf(token: Token): string {
  return token.text
}

/** What most collections use, so without anything in between. */
function lowerCaseWords(text: string, tokenSizeMax = Infinity): readonly string[] {
  const words = new Words(text)
  const terms: string[] = []
  // No character takes less than a byte, so the length tells when there are too many.
  let length = 0
  while (length <= tokenSizeMax && words.next()) {
    const term = lowercased(text.slice(words.start, words.end))
    terms.push(term)
    length += term.length
  }
  return terms
}
