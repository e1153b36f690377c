/**
 * The catalog of text analysis: everything that a collection can refer to by name. An analyzer is
 * either built in, or a recipe of char filters, one tokenizer and token filters.
 *
 * Names and arguments are those of Lucene. Names are case-insensitive; arguments are
 * case-sensitive.
 */
export const builtInAnalyzers: readonly string[] = [
  ...['standard', 'simple', 'whitespace', 'stop', 'lowercase', 'keyword'],
  ...['arabic', 'armenian', 'basque', 'bengali', 'brazilian', 'bulgarian', 'catalan'],
  ...['cjk', 'czech', 'danish', 'dutch', 'english', 'estonian', 'finnish', 'french'],
  ...['galician', 'german', 'greek', 'hindi', 'hungarian', 'indonesian', 'irish'],
  ...['italian', 'latvian', 'lithuanian', 'norwegian', 'persian', 'portuguese'],
  ...['romanian', 'russian', 'sorani', 'spanish', 'swedish', 'turkish', 'thai'],
]

/** Types of arguments. Arguments are passed as text; the type determines the valid texts. */
export type ArgumentType =
  | 'text'
  /** Entries separated by commas or line breaks. */
  | 'list'
  | 'pattern'
  /** An integer; -1 has a special meaning. */
  | 'integer'
  /** An integer of 0 or more. */
  | 'count'
  | 'true or false'
  | '0 or 1'

export interface Component {
  readonly name: string
  readonly required?: Readonly<Record<string, ArgumentType>>
  readonly optional?: Readonly<Record<string, ArgumentType>>
}

const grams = { minGramSize: 'count', maxGramSize: 'count' } as const

export const tokenizers: readonly Component[] = [
  { name: 'standard', optional: { maxTokenLength: 'count' } },
  { name: 'keyword', optional: { maxTokenLen: 'count' } },
  { name: 'letter', optional: { maxTokenLen: 'count' } },
  { name: 'whitespace', optional: { rule: 'text', maxTokenLen: 'count' } },
  { name: 'classic', optional: { maxTokenLength: 'count' } },
  { name: 'uax29UrlEmail', optional: { maxTokenLength: 'count' } },
  { name: 'nGram', optional: grams },
  { name: 'edgeNGram', optional: grams },
  {
    name: 'pathHierarchy',
    optional: {
      delimiter: 'text',
      replace: 'text',
      reverse: 'true or false',
      skip: 'count',
    },
  },
  { name: 'pattern', required: { pattern: 'pattern' }, optional: { group: 'integer' } },
  { name: 'simplePattern', required: { pattern: 'pattern' } },
  { name: 'simplePatternSplit', required: { pattern: 'pattern' } },
  { name: 'thai' },
]

const words = { words: 'list', ignoreCase: 'true or false', format: 'text' } as const

const synonyms = {
  required: { synonyms: 'list' },
  optional: { ignoreCase: 'true or false', expand: 'true or false', format: 'text' },
} as const

export const tokenFilters: readonly Component[] = [
  { name: 'lowercase' },
  { name: 'uppercase' },
  { name: 'asciiFolding', optional: { preserveOriginal: 'true or false' } },
  { name: 'stop', optional: words },
  { name: 'porterStem' },
  { name: 'kStem' },
  { name: 'snowballPorter', optional: { language: 'text', protected: 'list' } },
  { name: 'englishPossessive' },
  ...languageFilters('Stem', [
    ...['arabic', 'bengali', 'brazilian', 'bulgarian', 'czech', 'galician', 'german'],
    ...['greek', 'hindi', 'indonesian', 'latvian', 'persian', 'portuguese', 'sorani'],
  ]),
  ...languageFilters('LightStem', [
    ...['finnish', 'french', 'german', 'hungarian', 'italian', 'norwegian'],
    ...['portuguese', 'russian', 'spanish', 'swedish'],
  ]),
  ...languageFilters('MinimalStem', [
    ...['english', 'french', 'galician', 'german', 'norwegian', 'portuguese', 'spanish'],
    ...['swedish'],
  ]),
  ...languageFilters('Normalization', [
    ...['arabic', 'bengali', 'german', 'hindi', 'indic', 'norwegian', 'persian'],
    ...['scandinavian', 'serbian', 'sorani', 'telugu'],
  ]),
  {
    name: 'stemmerOverride',
    optional: { dictionary: 'list', ignoreCase: 'true or false' },
  },
  {
    name: 'keywordMarker',
    optional: { protected: 'list', pattern: 'pattern', ignoreCase: 'true or false' },
  },
  { name: 'synonym', ...synonyms },
  { name: 'synonymGraph', ...synonyms },
  { name: 'nGram', required: grams, optional: { preserveOriginal: 'true or false' } },
  { name: 'edgeNGram', required: grams, optional: { preserveOriginal: 'true or false' } },
  {
    name: 'shingle',
    optional: {
      minShingleSize: 'count',
      maxShingleSize: 'count',
      outputUnigrams: 'true or false',
      outputUnigramsIfNoShingles: 'true or false',
      tokenSeparator: 'text',
      fillerToken: 'text',
    },
  },
  { name: 'length', required: { min: 'count', max: 'count' } },
  {
    name: 'limitTokenCount',
    required: { maxTokenCount: 'count' },
    optional: { consumeAllTokens: 'true or false' },
  },
  { name: 'truncate', optional: { prefixLength: 'count' } },
  { name: 'trim' },
  { name: 'reverseString' },
  { name: 'removeDuplicates' },
  { name: 'elision', optional: { articles: 'list', ignoreCase: 'true or false' } },
  { name: 'decimalDigit' },
  {
    name: 'cjkBigram',
    optional: {
      han: 'true or false',
      hiragana: 'true or false',
      katakana: 'true or false',
      hangul: 'true or false',
      outputUnigrams: 'true or false',
    },
  },
  { name: 'cjkWidth' },
  { name: 'keepWord', optional: { words: 'list', ignoreCase: 'true or false' } },
  { name: 'commonGrams', optional: words },
  {
    name: 'patternReplace',
    required: { pattern: 'pattern' },
    optional: { replacement: 'text', replace: 'text' },
  },
  {
    name: 'wordDelimiterGraph',
    optional: {
      generateWordParts: '0 or 1',
      generateNumberParts: '0 or 1',
      catenateWords: '0 or 1',
      catenateNumbers: '0 or 1',
      catenateAll: '0 or 1',
      splitOnCaseChange: '0 or 1',
      splitOnNumerics: '0 or 1',
      preserveOriginal: '0 or 1',
      stemEnglishPossessive: '0 or 1',
      ignoreKeywords: '0 or 1',
      adjustOffsets: '0 or 1',
      protected: 'list',
      types: 'list',
    },
  },
]

export const charFilters: readonly Component[] = [
  { name: 'htmlStrip', optional: { escapedTags: 'list' } },
  { name: 'mapping', optional: { mapping: 'list' } },
  {
    name: 'patternReplace',
    required: { pattern: 'pattern' },
    optional: { replacement: 'text' },
  },
  { name: 'cjkWidth' },
  { name: 'persian' },
]

/** Filters for single languages, such as "germanLightStem", without arguments. */
function languageFilters(suffix: string, languages: readonly string[]): Component[] {
  return languages.map((language) => ({ name: language + suffix }))
}
