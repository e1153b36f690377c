/** Creates the components of the catalog. Names are in lower case here. */
import { mapping } from './char-filters/mapping.ts'
import { htmlStrip } from './char-filters/html-strip.ts'
import { persian } from './char-filters/persian.ts'
import { asciiFolding } from './filters/ascii-folding.ts'
import { lowercase, uppercase } from './filters/basic.ts'
import { cjkBigram, cjkWidth, decimalDigit, foldWidth } from './filters/cjk.ts'
import { edgeNGramFilter, nGramFilter } from './filters/grams.ts'
import {
  patternReplaceCharFilter,
  patternReplaceFilter,
} from './filters/pattern-replace.ts'
import { shingle } from './filters/shingle.ts'
import * as sizes from './filters/sizes.ts'
import { synonyms } from './filters/synonyms.ts'
import { wordDelimiterGraph } from './filters/word-delimiter.ts'
import * as words from './filters/words.ts'
import { languages } from './languages/on-demand.ts'
import type { Arguments, CharFilter, MaybeSteps, TokenFilter, Tokenizer } from './stage.ts'
import { classic } from './tokenizers/classic.ts'
import { edgeNGram, nGram } from './tokenizers/grams.ts'
import { pathHierarchy } from './tokenizers/path-hierarchy.ts'
import { pattern, simplePattern, simplePatternSplit } from './tokenizers/patterns.ts'
import { keyword, letter, whitespace } from './tokenizers/runs.ts'
import { standard, uax29UrlEmail } from './tokenizers/standard.ts'
import { thai } from './tokenizers/thai.ts'

/** Creates a component; throws ArgumentProblem if its arguments are invalid. */
export type StageFactory<Stage> = (args: Arguments) => MaybeSteps<Stage>

/** Stage factories by component name in lower case. */
export type Makers<Stage> = Pick<ReadonlyMap<string, StageFactory<Stage>>, 'get'>

export const makeTokenizer: Makers<Tokenizer> = new Map([
  ['standard', standard],
  ['keyword', keyword],
  ['letter', letter],
  ['whitespace', whitespace],
  ['classic', classic],
  ['uax29urlemail', uax29UrlEmail],
  ['ngram', nGram],
  ['edgengram', edgeNGram],
  ['pathhierarchy', pathHierarchy],
  ['pattern', pattern],
  ['simplepattern', simplePattern],
  ['simplepatternsplit', simplePatternSplit],
  ['thai', () => thai],
])

export const makeTokenFilter: Makers<TokenFilter> = {
  get: (name) => generalFilters.get(name) ?? languages().languageFilters.get(name),
}

const generalFilters: Makers<TokenFilter> = new Map<string, StageFactory<TokenFilter>>([
  ['lowercase', () => lowercase],
  ['uppercase', () => uppercase],
  ['asciifolding', asciiFolding],
  ['stop', words.stopFilter],
  ['keepword', words.keepWord],
  ['keywordmarker', words.keywordMarker],
  ['stemmeroverride', words.stemmerOverride],
  ['elision', words.elisionFilter],
  ['commongrams', words.commonGrams],
  ['synonym', synonyms],
  // synonymgraph differs only in the positions of the words of a synonym, which terms do not
  // have.
  ['synonymgraph', synonyms],
  ['ngram', nGramFilter],
  ['edgengram', edgeNGramFilter],
  ['shingle', shingle],
  ['length', sizes.length],
  ['limittokencount', sizes.limitTokenCount],
  ['truncate', sizes.truncate],
  ['trim', () => sizes.trim],
  ['reversestring', () => sizes.reverseString],
  ['removeduplicates', () => sizes.removeDuplicates],
  ['decimaldigit', () => decimalDigit],
  ['cjkbigram', cjkBigram],
  ['cjkwidth', () => cjkWidth],
  ['patternreplace', patternReplaceFilter],
  ['worddelimitergraph', wordDelimiterGraph],
])

export const makeCharFilter: Makers<CharFilter> = new Map<string, StageFactory<CharFilter>>(
  [
    ['htmlstrip', htmlStrip],
    ['mapping', mapping],
    ['patternreplace', patternReplaceCharFilter],
    ['cjkwidth', () => foldWidth],
    ['persian', () => persian],
  ],
)
