/** The built-in analyzers, as sequences of stages. */
import { cjkBigram, cjkWidth } from './filters/cjk.ts'
import { lowercase, stop } from './filters/basic.ts'
import { englishStopWords } from './filters/words.ts'
import { languages } from './languages/on-demand.ts'
import type { CharFilter, TokenFilter, Tokenizer } from './stage.ts'
import { keyword, letter, whitespace } from './tokenizers/runs.ts'
import { standardTokenizer } from './tokenizers/standard.ts'
import { thai } from './tokenizers/thai.ts'

export interface Stages {
  readonly charFilters: readonly CharFilter[]
  readonly tokenizer: Tokenizer
  readonly filters: readonly TokenFilter[]
}

const none = new Map<string, string>()

/** The stages of a built-in analyzer; `name` is in lower case. */
export function builtIn(name: string): Stages {
  const charFilters: readonly CharFilter[] = []
  switch (name) {
    case 'standard':
      return { charFilters, tokenizer: standardTokenizer, filters: [lowercase] }
    case 'simple':
      return { charFilters, tokenizer: letter(none), filters: [lowercase] }
    case 'whitespace':
      return { charFilters, tokenizer: whitespace(none), filters: [] }
    case 'stop': {
      const filters = [lowercase, stop(englishStopWords)]
      return { charFilters, tokenizer: letter(none), filters }
    }
    case 'lowercase':
      return { charFilters, tokenizer: keyword(none), filters: [lowercase] }
    case 'keyword':
      return { charFilters, tokenizer: keyword(none), filters: [] }
    case 'cjk': {
      const filters = [cjkWidth, lowercase, cjkBigram(none), stop(cjkStopWords)]
      return { charFilters, tokenizer: standardTokenizer, filters }
    }
    case 'thai': {
      const filters = [lowercase, stop(languages().stopWords('thai') ?? new Set())]
      return { charFilters, tokenizer: thai, filters }
    }
    default: {
      const recipe = languages().languageRecipes.get(name)
      if (recipe === undefined) throw new Error(`there is no analyzer "${name}"`)
      return { charFilters, tokenizer: standardTokenizer, ...recipe }
    }
  }
}

/**
 * Stop words for Chinese, Japanese and Korean. Texts in these languages contain English words, and
 * the single letters "s" and "t" carry no meaning.
 */
const cjkStopWords: ReadonlySet<string> = new Set([...englishStopWords, 's', 't', 'www'])
