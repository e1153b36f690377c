/**
 * The cost that filters charge for comparing documents and rows, and the points at which a
 * comparison may pause.
 */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { ownCaller, type Caller } from '../../../../src/caller/caller.ts'
import { collectionSource } from '../../../../src/collections/document-source.ts'
import type { StoredRecord } from '../../../../src/engine/contract.ts'
import {
  mainThreadBudget,
  OverBudget,
  type Budget,
} from '../../../../src/engine/embedded/store/budget.ts'
import type { RowView } from '../../../../src/engine/embedded/format/row-view.ts'
import { StoreReader } from '../../../../src/engine/embedded/read/store-reader.ts'
import type { RecordView } from '../../../../src/engine/record-view.ts'
import type { Column } from '../../../../src/language/columns/column.ts'
import { matchesRow, rowMatcher } from '../../../../src/language/columns/match-row.ts'
import type {
  RowCondition,
  RowFilter,
} from '../../../../src/language/columns/row-filter.ts'
import type { Filter } from '../../../../src/language/filters/filter.ts'
import { defaultLimits } from '../../../../src/limits.ts'
import { openEmbedded, storedViewOf } from '../embedded-store.ts'
import { among, Store } from '../../store.ts'
import { TableStore } from '../../table-store.ts'

/** Units of work between two points at which a comparison may pause for other requests. */
const pace = 500

const numbers = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => from + n)

/**
 * A filter with `count` conditions on the array `a`. An array of the numbers from 0 to `values` - 1
 * matches all of them.
 */
function manyOf(count: number, values = 100): Filter {
  return {
    kind: 'and',
    of: [
      ...numbers(0, count - 1).map(() => among('a', 'all', numbers(0, values))),
      among('a', 'nin', numbers(-100, 100)),
    ],
  }
}

function counting(): { readonly budget: Budget; readonly spent: number[] } {
  const spent: number[] = []
  return { budget: { spend: (units) => void spent.push(units) }, spent }
}

function sum(units: readonly number[]): number {
  return units.reduce((all, one) => all + one, 0)
}

function readerOf(context: TestContext, file: string, view: RecordView): StoreReader {
  const reader = new StoreReader(file, view)
  context.after(() => reader.close())
  return reader
}

describe('a filter on the embedded engine', () => {
  const length = 20_000

  async function withDocument(context: TestContext) {
    const { engine, fileOf, dataDir } = await openEmbedded(context)
    const store = await Store.create(engine, 'arrays')
    await store.insert([{ _id: 1, a: numbers(0, length) }])
    return readerOf(context, fileOf('arrays'), storedViewOf(dataDir, 'arrays'))
  }

  test('reads the elements of a document once, however many conditions it has', async (context) => {
    const reader = await withDocument(context)
    const costOf = (count: number) => {
      const { budget, spent } = counting()
      const found = reader.store.reading(() => reader.count(manyOf(count), 10, budget))
      assert.equal(found.count, 1)
      return spent
    }
    const [few, many] = [costOf(2), costOf(64)]
    assert(few.length >= length / pace, `asked ${few.length} times`)
    assert(many.length - few.length < 200, `${many.length} times, and ${few.length}`)
    // Every value is charged twice: when the read is planned, and when the document is compared.
    const values = 62 * 100
    assert(sum(many) - sum(few) > values, `${sum(many)} units, and ${sum(few)}`)
    assert(sum(many) - sum(few) < 4 * values, `${sum(many)} units, and ${sum(few)}`)
  })

  test('exceeds the budget of the request thread if it has many values', async (context) => {
    const reader = await withDocument(context)
    const count = (filter: Filter) =>
      reader.store.reading(() => reader.count(filter, 10, mainThreadBudget()))
    assert.throws(() => count(manyOf(64)), OverBudget)
  })

  test('can exceed its budget while it checks one row', async (context) => {
    const { engine, fileOf, dataDir } = await openEmbedded(context)
    const store = await TableStore.create(engine)
    await store.put([{ p: 'p', c: 1, numbers: numbers(0, length) }])
    const view = storedViewOf(dataDir, 'rows')
    const { text: path } = (view as RowView).path({ name: 'numbers' })
    const filter: Filter = {
      kind: 'and',
      of: numbers(0, 64).map(() => among(path, 'all', numbers(length - 100, 100))),
    }
    const reader = readerOf(context, fileOf('rows'), view)
    let left = 30
    const budget: Budget = {
      spend() {
        if (--left === 0) throw new OverBudget()
      },
    }
    assert.throws(
      () => reader.store.reading(() => reader.count(filter, 10, budget)),
      OverBudget,
    )
  })
})

describe('a filter that is checked outside the engine', () => {
  function pausing(): { readonly caller: Caller; readonly asked: () => number } {
    let asked = 0
    const caller: Caller = {
      ...ownCaller(),
      pause() {
        asked++
        return undefined
      },
    }
    return { caller, asked: () => asked }
  }

  const record = (a: readonly number[]): StoredRecord => {
    return { id: 1, text: JSON.stringify({ _id: 1, a }), version: 1 }
  }

  test('pauses for other requests while it checks one large document', async (context) => {
    const { engine } = await openEmbedded(context)
    const { target } = await Store.create(engine, 'arrays')
    const source = collectionSource(engine, target, defaultLimits)
    const length = 300_000
    const large = record(numbers(0, length))
    const { caller, asked } = pausing()
    assert.equal(await source.matches(manyOf(64), large, caller), true)
    const times = asked()
    assert(times >= length / pace, `${times} times`)
    assert(times < 8 * (length / pace), `${times} times`)
  })

  test('returns synchronously for a small document', async (context) => {
    const { engine } = await openEmbedded(context)
    const { target } = await Store.create(engine, 'arrays')
    const source = collectionSource(engine, target, defaultLimits)
    const { caller, asked } = pausing()
    assert.equal(source.matches(manyOf(2), record(numbers(0, 200)), caller), true)
    assert.equal(source.matches(manyOf(2), record(numbers(5, 200)), caller), false)
    assert.equal(asked(), 0)
  })

  const element = { types: [], folding: () => undefined, terms: () => [] }
  const columns: readonly Column[] = [
    { name: 'l', type: { type: 'list', valueType: 'int' } },
    { name: 's', type: { type: 'set', valueType: 'text' } },
    { name: 'm', type: { type: 'map', keyType: 'int', valueType: 'text' } },
    { name: 't', type: { type: 'map', keyType: 'text', valueType: 'int' } },
  ]
  const [list, set, map, textMap] = columns as [Column, Column, Column, Column]
  const count = 10_000
  const valueOf = ({ name }: Column) =>
    name === 'l'
      ? numbers(0, count)
      : name === 's'
        ? numbers(0, count).map((n) => `t${n}`)
        : name === 'm'
          ? numbers(0, count).map((n) => [n, `t${n}`])
          : new Map(numbers(0, count).map((n) => [`t${n}`, n]))
  const last = count - 1
  const conditions: readonly RowCondition[] = [
    { kind: 'all', column: list, part: 'value', operands: [0, 600, last] },
    { kind: 'all', column: set, part: 'value', operands: ['t0', `t${last}`] },
    { kind: 'all', column: map, part: 'keys', operands: [1, last] },
    { kind: 'in', column: map, part: 'values', operands: ['none', `t${last}`] },
    { kind: 'all', column: textMap, part: 'value', operands: [[`t${last}`, last]] },
    { kind: 'nin', column: textMap, part: 'keys', operands: ['none'] },
  ]
  const stepsOf = (filter: RowFilter): number => {
    const answer = rowMatcher(filter, element)(valueOf)
    assert(typeof answer !== 'boolean')
    let steps = 0
    for (let step = answer.next(); ; step = answer.next()) {
      if (step.done === true) {
        assert.equal(step.value, true)
        return steps
      }
      steps++
    }
  }

  for (const condition of conditions)
    test(`runs in steps over a long ${condition.column.type.type}: ${condition.kind} of ${condition.part}`, () => {
      assert(matchesRow(condition, valueOf, element))
      const one = stepsOf(condition)
      assert(one >= count / pace, `${one} steps`)
      const many: RowFilter = { kind: 'and', of: numbers(0, 64).map(() => condition) }
      assert.equal(stepsOf(many), one)
    })
})
