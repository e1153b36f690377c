import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  builtInAnalyzers,
  charFilters,
  tokenFilters,
  tokenizers,
  type Component,
} from '../../../src/search/lexical/analyzers.ts'
import { isSameAnalyzer } from '../../../src/search/lexical/recipe.ts'
import { problemOf, termsOf } from './analyze.ts'

const lists = [
  ['tokenizer', tokenizers, (one: object) => ({ tokenizer: one })],
  ['token filter', tokenFilters, (one: object) => ({ filters: [one] })],
  ['char filter', charFilters, (one: object) => ({ charFilters: [one] })],
] as const

/** Values for the required arguments of a component. */
function argsOf({ required = {} }: Component): Record<string, string> {
  return Object.fromEntries(
    Object.entries(required).map(([name, type]) => [name, type === 'text' ? 'a' : '3']),
  )
}

test('every listed component can be created, with its name in any case', () => {
  for (const [what, known, recipeOf] of lists)
    for (const component of known)
      for (const name of [component.name, component.name.toUpperCase()]) {
        const recipe = recipeOf({ name, args: argsOf(component) })
        assert.equal(problemOf(recipe), undefined, `${what} ${name}`)
        assert.ok(termsOf(recipe, 'Some text of 3 kinds').length >= 0)
      }
})

test('every built-in analyzer can be created', () => {
  for (const name of builtInAnalyzers) {
    assert.equal(problemOf(name.toUpperCase()), undefined)
    assert.ok(termsOf(name, 'Mañana 2024').length > 0, name)
  }
})

test('invalid arguments are rejected and named', () => {
  const words = 'a '.repeat(101)
  for (const [list, name, args, ...named] of [
    ['tokenizer', 'standard', { maxTokenLength: '0' }, 'maxTokenLength', '0'],
    ['tokenizer', 'standard', { maxTokenLength: '99999999' }, 'maxTokenLength'],
    ['tokenizer', 'keyword', { maxTokenLen: '0' }, 'maxTokenLen'],
    ['tokenizer', 'whitespace', { rule: 'perl' }, 'rule', 'perl', 'java'],
    ['tokenizer', 'nGram', { minGramSize: '9' }, 'minGramSize', '9', 'maxGramSize', '7'],
    ['tokenizer', 'nGram', { maxGramSize: '100000' }, 'maxGramSize', '100000'],
    ['tokenizer', 'edgeNGram', { minGramSize: '0' }, 'minGramSize', '0'],
    ['tokenizer', 'pathHierarchy', { delimiter: '' }, 'delimiter'],
    ['tokenizer', 'pathHierarchy', { replace: 'ab' }, 'replace', 'ab'],
    ['tokenizer', 'pattern', { pattern: '(' }, 'pattern', '"("'],
    ['tokenizer', 'pattern', { pattern: '(a)', group: '2' }, 'group', '2'],
    ['tokenizer', 'pattern', { pattern: '(a)', group: '-2' }, 'group', '-2'],
    ['tokenizer', 'simplePattern', { pattern: '[' }, 'pattern', '['],
    ['tokenizer', 'simplePatternSplit', { pattern: 'a&b' }, 'pattern', '&'],
    ['filters', 'nGram', { minGramSize: '3', maxGramSize: '2' }, 'minGramSize', '3', '2'],
    ['filters', 'edgeNGram', { minGramSize: '1', maxGramSize: '256' }, 'maxGramSize'],
    ['filters', 'shingle', { minShingleSize: '1' }, 'minShingleSize', '1'],
    ['filters', 'shingle', { maxShingleSize: '1000' }, 'maxShingleSize', '1000'],
    ['filters', 'shingle', { minShingleSize: '3' }, 'minShingleSize', 'maxShingleSize'],
    ['filters', 'length', { min: '5', max: '4' }, 'min', '5', 'max', '4'],
    ['filters', 'limitTokenCount', { maxTokenCount: '0' }, 'maxTokenCount'],
    ['filters', 'truncate', { prefixLength: '0' }, 'prefixLength'],
    ['filters', 'stop', { words: 'a', format: 'xml' }, 'format', 'xml'],
    ['filters', 'keywordMarker', { pattern: '*' }, 'pattern', '*'],
    ['filters', 'stemmerOverride', { dictionary: 'mice' }, 'dictionary', 'mice'],
    ['filters', 'synonym', { synonyms: 'a => b => c' }, 'synonyms', 'a => b => c'],
    ['filters', 'synonym', { synonyms: 'a =>' }, 'synonyms', 'a =>'],
    ['filters', 'synonymGraph', { synonyms: `${words} => b` }, 'synonyms', '100'],
    ['filters', 'synonym', { synonyms: 'a', format: 'wordnet' }, 'format', 'wordnet'],
    ['filters', 'patternReplace', { pattern: '[' }, 'pattern'],
    ['filters', 'patternReplace', { pattern: 'a', replacement: '$1' }, '$1'],
    ['filters', 'patternReplace', { pattern: 'a', replacement: '${x}' }, '${x}'],
    ['filters', 'patternReplace', { pattern: 'a', replacement: '$' }, '$'],
    ['filters', 'patternReplace', { pattern: 'a', replace: 'last' }, 'replace', 'last'],
    ['filters', 'wordDelimiterGraph', { types: '% => SIGN' }, 'types', 'SIGN'],
    ['filters', 'wordDelimiterGraph', { types: 'ab => ALPHA' }, 'types', 'ab'],
    ['charFilters', 'mapping', { mapping: 'a' }, 'mapping', '"a"'],
    ['charFilters', 'mapping', { mapping: `${'a'.repeat(256)} => b` }, 'mapping', '256'],
    ['charFilters', 'mapping', { mapping: '"" => b' }, 'mapping'],
    ['charFilters', 'patternReplace', { pattern: '(?<x' }, 'pattern'],
    ['filters', 'stop', { words: 'a,'.repeat(600_000) }, 'words', '250000'],
  ] as const) {
    const component = { name, args }
    const recipe = { [list]: list === 'tokenizer' ? component : [component] }
    const problem = problemOf(recipe) ?? 'none'
    assert.ok(problem.includes(`"${name}"`), `${name} ${JSON.stringify(args)}: ${problem}`)
    for (const part of named) assert.ok(problem.includes(part), problem)
  }
})

test('unknown names and arguments are rejected', () => {
  for (const [recipe, named] of [
    ['klingon', '"klingon"'],
    [{ tokenizer: { name: 'sentence' } }, '"sentence"'],
    [{ filters: [{ name: 'lowercase', args: { locale: 'tr' } }] }, '"locale"'],
    [{ charFilters: [{ name: 'xmlStrip' }] }, '"xmlStrip"'],
    [{ filters: Array.from({ length: 33 }, () => ({ name: 'trim' })) }, '32'],
  ] as const)
    assert.ok(problemOf(recipe)?.includes(named))
})

test('analyzers are equal whatever the case of their names', () => {
  const recipe = (name: string, words: string) => ({ filters: [{ name, args: { words } }] })
  assert.ok(isSameAnalyzer('English', 'english'))
  assert.ok(isSameAnalyzer(recipe('Stop', 'a'), recipe('stop', 'a')))
  assert.ok(!isSameAnalyzer(recipe('stop', 'A'), recipe('stop', 'a')))
  assert.ok(!isSameAnalyzer('stop', { filters: [{ name: 'stop' }] }))
})
