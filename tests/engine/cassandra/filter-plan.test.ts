/**
 * For random filters and documents, the plan of a filter must find each document that matches. The
 * test evaluates the terms of a plan on the index columns that the document would have on a
 * cluster.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import type {
  Branch,
  DocumentTerm,
} from '../../../src/engine/cassandra/documents/filter-plan.ts'
import { termsMax } from '../../../src/engine/cassandra/system/read-limits.ts'
import { keyOf } from '../../../src/engine/cassandra/documents/document-key.ts'
import {
  planWith,
  type FilterCapabilities,
} from '../../../src/engine/cassandra/documents/filter-capabilities.ts'
import {
  shredInSteps,
  type Shredded,
} from '../../../src/engine/cassandra/documents/shred.ts'
import type { Filter } from '../../../src/language/filters/filter.ts'
import { indexingRule } from '../../../src/language/filters/indexing.ts'
import { matches } from '../../../src/language/filters/matches.ts'
import { parsePath, type Path } from '../../../src/language/values/path.ts'
import { compareValues } from '../../../src/language/values/order.ts'
import {
  Random,
  randomFields,
  randomFilter,
  randomId,
  seed,
  times,
} from '../../model/random.ts'
import { atOnce } from '../../../src/runtime/steps.ts'

const shape = { nested: 0.35, scalars: 30, fields: 6 }
const rule = indexingRule(undefined)
const clusters: readonly FilterCapabilities[] = [
  { or: false, negations: false, ranges: false, words: false },
  { or: true, negations: true, ranges: true, words: true },
  { or: true, negations: false, ranges: false, words: true },
]

test(`plans find all matching documents, and exact plans no others, SEED=${seed}`, () => {
  const random = new Random(seed)
  let found = 0
  for (let round = 0; round < 20_000 * times; round++) {
    const document = randomFields(random, shape)
    document.set('_id', randomId(random, 30))
    const filter = randomFilter(random, shape, rule)
    const shredded = atOnce(shredInSteps(document, {}))
    if (!matches(filter, document)) {
      const plan = planWith(filter, clusters[0]!)
      if (plan.kind === 'branches' && plan.isExact)
        assert(!plan.branches.some((branch) => holdsAll(branch, shredded)), said(filter))
      continue
    }
    for (const can of clusters) {
      const plan = planWith(filter, can)
      const isFound =
        plan.kind === 'keys'
          ? plan.keys.some(({ text }) => text === keyOf(document.get('_id')!).text)
          : plan.branches.some((branch) => holdsAll(branch, shredded))
      assert(isFound, said(filter, document, can))
      found++
    }
  }
  assert(found > 1_000)
})

test('a plan is not exact when a text cannot be encoded as UTF-8', () => {
  const at = (text: string) => parsePath(text) as Path
  const exists = (text: string): Filter => ({
    kind: 'exists',
    path: at(text),
    exists: true,
  })
  const eq = (value: string): Filter => ({ kind: 'eq', path: at('a'), value })
  for (const [filter, isExact] of [
    [eq('x🦉'), true],
    [eq('x\ud83e'), false],
    [exists('é'), true],
    [exists('\udd89'), false],
  ] as const) {
    const plan = planWith(filter, clusters[0]!)
    assert(plan.kind === 'branches')
    assert.equal(plan.isExact, isExact, said(filter))
  }
})

test('a plan is exact for a path or text with spaces unless its term has another reading', () => {
  for (const [path, value, isExact] of [
    ['city', 'City 07', true],
    ['city', 'New York', true],
    ['city', 'San Salvador', false],
    ['home town', 'Oslo', true],
    ['a S', 1, false],
    ['a', ' N1', false],
    ['a', 'x ', true],
    ['a', 'a long text with Some words', true],
  ] as const) {
    const filter: Filter = { kind: 'eq', path: parsePath(path) as Path, value }
    const plan = planWith(filter, clusters[0]!)
    assert(plan.kind === 'branches')
    assert.equal(plan.isExact, isExact, said(filter))
  }
})

test('exact terms of different paths or values differ, even if they contain spaces', () => {
  const words = ['a', 'S', 'Sa', 'N1', 'B1', 'Z', '0'.repeat(22), '']
  const texts = words.flatMap((first) =>
    words.flatMap((second) => [first, `${first} ${second}`, `${first} ${second} N1`]),
  )
  const readings = new Map<string, string>()
  let exact = 0
  for (const text of new Set(texts.filter((one) => one !== '')))
    for (const value of [...new Set(texts), 1, true, null]) {
      const path: Path = { text, segments: [text] }
      const plan = planWith({ kind: 'eq', path, value }, clusters[0]!)
      assert(plan.kind === 'branches')
      const [term] = plan.branches[0]!
      if (term!.kind !== 'contains') continue
      const reading = JSON.stringify([text, value])
      const other = readings.get(term.entry)
      if (plan.isExact) exact++
      if (plan.isExact || other?.startsWith('exact'))
        assert(other === undefined, `${reading} and ${other}: ${term.entry}`)
      readings.set(term.entry, plan.isExact ? `exact ${reading}` : reading)
    }
  assert(exact > 1_000, String(exact))
})

function said(...what: unknown[]): string {
  return inspect(what, { depth: 20 })
}

function holdsAll(branch: Branch, shredded: Shredded): boolean {
  return branch.every((term) => holds(term, shredded))
}

function holds(term: DocumentTerm, shredded: Shredded): boolean {
  switch (term.kind) {
    case 'contains':
      return shredded.contains.has(term.entry)
    case 'text':
      return shredded.texts.get(term.path) === term.text
    case 'null':
      return shredded.nulls.has(term.path)
    case 'size':
      return shredded.sizes.get(term.path) === term.size
    case 'exists':
      return shredded.exists.has(term.path)
    case 'lacks':
      return !holds(term.of, shredded)
    case 'otherSize':
      return shredded.sizes.get(term.path) !== term.size
    case 'any':
      return term.of.some((branch) => holdsAll(branch, shredded))
    case 'range': {
      const { bound, path, operator } = term
      const stored = 'ms' in bound ? shredded.dates.get(path) : shredded.numbers.get(path)
      if (stored === undefined) return false
      const order = compareValues(stored, 'ms' in bound ? bound.ms : bound.number)
      return operator.startsWith('>')
        ? order > 0 || (order === 0 && operator === '>=')
        : order < 0 || (order === 0 && operator === '<=')
    }
    case 'words':
      return true
  }
}

test('a plan has few terms when a filter has many conditions with many values', () => {
  const values = Array.from({ length: 100 }, (_, n) => n)
  const path: Path = { text: 'a', segments: ['a'] }
  const of = Array.from({ length: 60 }, () => ({ kind: 'all', path, values }) as const)
  for (const can of clusters) {
    const plan = planWith({ kind: 'and', of }, can)
    assert(plan.kind === 'branches' && !plan.isWhole)
    assert.deepEqual(
      plan.branches.map(({ length }) => length),
      [termsMax],
    )
  }
})
