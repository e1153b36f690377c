/** Compares the estimated memory of compiled analyzers with the memory that V8 uses for them. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { defaultLimits } from '../../../src/limits.ts'
import {
  analyzerFor,
  evictAnalyzers,
  limitAnalyzerMemory,
} from '../../../src/search/lexical/analyzer.ts'
import { memoryFor } from '../../../src/search/lexical/definition.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/**
 * Number of copies of an analyzer that a test compiles at once. Their memory then outweighs other
 * changes of the heap.
 */
const copies = 5

function usedBytes(): number {
  collect()
  collect()
  const { used_heap_size: used, external_memory: external } = getHeapStatistics()
  return used + external
}

function entries(count: number, entry: (word: string) => string, separator = ','): string {
  const words = Array.from({ length: count }, (_, n) => entry((n + 40).toString(36)))
  return words.join(separator)
}

const letters = Array.from('abcdefghijklmnopqrstuvwxyz')

function filter(name: string, args: Readonly<Record<string, string>>) {
  return { filters: [{ name, args }] }
}

/** Definitions of analyzers. `mark` makes the copies differ, so that they are not shared. */
const cases: readonly (readonly [what: string, recipe: (mark: string) => object])[] = [
  [
    'one rule of many synonyms',
    (mark) => filter('synonym', { synonyms: entries(9_900, (word) => word + mark) }),
  ],
  [
    'many synonym rules',
    (mark) =>
      filter('synonym', { synonyms: entries(9_000, (word) => `${word}=>${mark}`, '\n') }),
  ],
  [
    'synonyms that are long phrases of single letters',
    (mark) => {
      const phrase = (word: string) => `${mark} ${word} ${letters.join(' ')}`
      return filter('synonym', { synonyms: entries(2_000, phrase, '\n') })
    },
  ],
  [
    'long mappings',
    (mark) => {
      const mapping = entries(980, (word) => `${word}${mark}${'qwertyuiop'.repeat(24)}=>w`)
      return { charFilters: [{ name: 'mapping', args: { mapping } }] }
    },
  ],
  [
    'short mappings',
    (mark) => {
      const mapping = entries(9_900, (word) => `${mark}${word}=>w`)
      return { charFilters: [{ name: 'mapping', args: { mapping } }] }
    },
  ],
  [
    'stop words',
    (mark) => filter('stop', { words: entries(9_900, (word) => word + mark) }),
  ],
  [
    'a long pattern',
    (mark) => {
      const pattern = `${mark}|${'(ab|c[d-f]+)'.repeat(300)}`
      return { tokenizer: { name: 'pattern', args: { pattern } } }
    },
  ],
]

describe('the estimate of a compiled analyzer covers its memory', () => {
  limitAnalyzerMemory(Number.MAX_SAFE_INTEGER)
  after(() => limitAnalyzerMemory(defaultLimits.analyzerMemoryMax))

  for (const [what, recipe] of cases)
    test(`for ${what}`, (context) => {
      analyzerFor(recipe('warm')).terms('some words')
      const texts = letters.slice(0, copies).map((mark) => JSON.stringify(recipe(mark)))
      const before = usedBytes()
      let estimate = 0
      for (const text of texts) {
        const definition = JSON.parse(text) as object
        estimate += memoryFor(definition)
        analyzerFor(definition).terms('some words')
      }
      const taken = usedBytes() - before
      context.diagnostic(`estimate ${estimate}, taken ${taken}`)
      assert(taken <= estimate, `it takes ${taken} bytes, and the estimate is ${estimate}`)
      evictAnalyzers()
      const kept = usedBytes() - before
      assert(kept <= taken / 4, `${kept} of ${taken} bytes are left after eviction`)
    })
})
