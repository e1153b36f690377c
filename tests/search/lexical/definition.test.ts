import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AnalyzerTooLarge } from '../../../src/errors/analyzer-too-large.ts'
import { defaultLimits, fixedLimits } from '../../../src/limits.ts'
import { fromPlain } from '../../../src/json/plain.ts'
import { AnalyzerCache } from '../../../src/search/lexical/analyzer-cache.ts'
import {
  analyzerFor,
  compiledAnalyzers,
  loadAnalyzer,
} from '../../../src/search/lexical/analyzer.ts'
import { packIfLong, StoredAnalyzer } from '../../../src/search/lexical/definition.ts'
import { findAnalyzerProblem, isSameAnalyzer } from '../../../src/search/lexical/recipe.ts'
import { atOnce, inTurns } from '../../../src/runtime/steps.ts'
import { problemOf } from './analyze.ts'

const { analyzerLengthMax, analyzerEntriesMax } = defaultLimits

/** A list of `count` distinct entries, separated by commas. */
function entries(count: number, entry = (n: number) => `w${n}`): string {
  return Array.from({ length: count }, (_, n) => entry(n)).join(',')
}

function filter(name: string, args: Readonly<Record<string, string>>) {
  return { filters: [{ name, args }] }
}

describe('the definition of an analyzer', () => {
  const tags = (tag: string) => (list: string) => ({
    charFilters: [
      { name: tag === 'types' ? 'mapping' : 'htmlStrip', args: { [tag]: list } },
    ],
  })
  for (const [what, recipeOf, entry] of [
    ['stop', (words: string) => filter('stop', { words })],
    ['keepWord', (words: string) => filter('keepWord', { words })],
    ['commonGrams', (words: string) => filter('commonGrams', { words })],
    ['elision', (articles: string) => filter('elision', { articles })],
    ['keywordMarker', (list: string) => filter('keywordMarker', { protected: list })],
    ['snowballPorter', (list: string) => filter('snowballPorter', { protected: list })],
    ['synonym', (synonyms: string) => filter('synonym', { synonyms })],
    ['synonymGraph', (synonyms: string) => filter('synonymGraph', { synonyms })],
    [
      'stemmerOverride',
      (dictionary: string) => filter('stemmerOverride', { dictionary }),
      (n: number) => `w${n}=>w`,
    ],
    [
      'wordDelimiterGraph',
      (list: string) => filter('wordDelimiterGraph', { types: list }),
      (n: number) => `${String.fromCharCode(0x4e00 + n)}=>DIGIT`,
    ],
    [
      'mapping',
      (list: string) => ({ charFilters: [{ name: 'mapping', args: { mapping: list } }] }),
      (n: number) => `w${n}=>w`,
    ],
    ['htmlStrip', tags('escapedTags')],
  ] as const)
    test(`with ${what} has at most ${analyzerEntriesMax} entries`, () => {
      assert.equal(problemOf(recipeOf(entries(analyzerEntriesMax, entry))), undefined)
      const problem = problemOf(recipeOf(entries(analyzerEntriesMax + 1, entry))) ?? ''
      assert.ok(problem.includes(`"${what}"`), problem)
      assert.ok(problem.includes(`${analyzerEntriesMax + 1} entries`), problem)
      assert.ok(problem.includes(`the maximum is ${analyzerEntriesMax}`), problem)
    })

  test('counts the entries of all its lists together', () => {
    const half = entries(analyzerEntriesMax / 2)
    const stop = { name: 'stop', args: { words: half } }
    assert.equal(problemOf({ filters: [stop, stop] }), undefined)
    const problem = problemOf({
      filters: [stop, stop, { name: 'stop', args: { words: '' } }],
    })
    assert.match(problem ?? '', /10001 in total with the other lists/)
  })

  test('limits the characters of all arguments together', () => {
    const half = 'x'.repeat(analyzerLengthMax / 2)
    const stop = { name: 'stop', args: { words: half } }
    assert.equal(problemOf({ filters: [stop, stop] }), undefined)
    const problem = problemOf({
      filters: [stop, stop, { name: 'elision', args: { articles: 'l' } }],
    })
    assert.match(problem ?? '', /"articles" of the token filter "elision".*250001/)
  })

  test('limits the characters of patterns', () => {
    const max = fixedLimits.patternLengthMax
    const recipe = (pattern: string) => ({
      tokenizer: { name: 'pattern', args: { pattern } },
    })
    assert.equal(problemOf(recipe('a'.repeat(max))), undefined)
    assert.match(problemOf(recipe('a'.repeat(max + 1))) ?? '', /"pattern".*4097.*4096/)
  })

  test('is checked for its size before anything is compiled', () => {
    const loads = compiledAnalyzers().loads
    const synonym = { name: 'synonym', args: { synonyms: entries(200_000) } }
    const value = fromPlain({ filters: Array.from({ length: 19 }, () => synonym) })
    const steps = findAnalyzerProblem(value, defaultLimits)
    assert.equal(steps.next().done, true)
    assert.equal(compiledAnalyzers().loads, loads)
  })

  test('is compiled in slices', async () => {
    let pauses = 0
    const deadline = {
      check: () => undefined,
      pause: () => {
        pauses++
        return Promise.resolve()
      },
    }
    const loading = loadAnalyzer(filter('synonym', { synonyms: entries(9_000) }))
    await inTurns(loading!, deadline)
    assert.ok(pauses >= 9_000 / 500, `${pauses} pauses`)
  })
})

describe('compiled analyzers', () => {
  test('are shared by equal definitions, with names in any case', () => {
    const recipe = (name: string) => filter(name, { words: 'shared, by, equal' })
    const { loads } = compiledAnalyzers()
    assert.deepEqual(analyzerFor(recipe('stop')).terms('not shared'), ['not shared'])
    assert.deepEqual(analyzerFor(recipe('STOP')).terms('not shared'), ['not shared'])
    assert.equal(compiledAnalyzers().loads, loads + 1)
    assert.equal(loadAnalyzer(recipe('Stop')), undefined)
  })

  test('are evicted when their total size exceeds the maximum, the least recently used first', () => {
    const cache = new AnalyzerCache<string>(100)
    cache.add('a', 'A', 40)
    cache.add('b', 'B', 40)
    assert.equal(cache.get('a'), 'A')
    cache.add('c', 'C', 40)
    assert.deepEqual(
      [cache.get('a'), cache.get('b'), cache.get('c')],
      ['A', undefined, 'C'],
    )
    assert.equal(cache.size, 80)
    cache.add('d', 'D', 100)
    assert.deepEqual(
      [cache.get('a'), cache.get('c'), cache.get('d')],
      [...[undefined, undefined, 'D']],
    )
    assert.equal(cache.size, 100)
  })

  test('stay within their memory limit, whatever their number', () => {
    const recipe = (n: number) => filter('stop', { words: `w${n},${entries(2_000)}` })
    const count = 2 + defaultLimits.analyzerMemoryMax / 500_000
    const { loads } = compiledAnalyzers()
    for (let n = 0; n < count; n++) {
      assert.deepEqual(analyzerFor(recipe(n)).terms('text'), ['text'])
      assert.ok(compiledAnalyzers().size <= defaultLimits.analyzerMemoryMax)
    }
    assert.deepEqual(analyzerFor(recipe(0)).terms('text'), ['text'])
    assert.equal(compiledAnalyzers().loads, loads + count + 1)
  })

  test('are not compiled when one of them alone exceeds the memory limit', () => {
    const words = 'x'.repeat(defaultLimits.analyzerMemoryMax / 50)
    const { loads } = compiledAnalyzers()
    assert.throws(
      () => analyzerFor(filter('stop', { words })).terms('text'),
      AnalyzerTooLarge,
    )
    assert.equal(compiledAnalyzers().loads, loads)
  })
})

describe('a long definition', () => {
  const long = filter('stop', { words: entries(1_000) })

  test('is stored compressed and returned unchanged', () => {
    const packed = packIfLong(long)
    assert.ok(packed instanceof StoredAnalyzer)
    assert.deepEqual(packed.recipe, long)
    assert.equal(JSON.stringify(packed), JSON.stringify(long))
    assert.deepEqual(analyzerFor(packed).terms('w5'), analyzerFor(long).terms('w5'))
    assert.ok(isSameAnalyzer(packed, long))
    assert.ok(!isSameAnalyzer(packed, filter('stop', { words: 'w5' })))
  })

  test('is decompressed when it is compiled, and not again', () => {
    let reads = 0
    const words = entries(1_000, (n) => `read${n}`)
    const recipe = filter('stop', { words })
    const stored = new StoredAnalyzer(recipe, () => {
      reads++
      return recipe
    })
    const analyzer = analyzerFor(stored)
    assert.equal(reads, 0)
    for (let n = 0; n < 3; n++) assert.deepEqual(analyzer.terms('read1'), [])
    assert.equal(reads, 1)
  })

  test('that is too large is not decompressed', () => {
    const unread = () => assert.fail('it was read')
    const recipe = filter('stop', {
      words: 'x'.repeat(defaultLimits.analyzerMemoryMax / 50),
    })
    const stored = new StoredAnalyzer(recipe, unread)
    assert.throws(() => atOnce(loadAnalyzer(stored)!), AnalyzerTooLarge)
  })
})
