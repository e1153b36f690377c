/** Internal keys and ids of columns, indexes and fields, which stay the same when names change. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  defineTable,
  defineType,
  redefineTable,
  redefineType,
} from '../../../../src/engine/embedded/schema/define-table.ts'
import type { TableChange } from '../../../../src/engine/schema-change.ts'
import type { StoredDefinition } from '../../../../src/engine/embedded/schema/stored-schema.ts'

const text = { type: 'text' } as const
const table = 't'

function column(name: string) {
  return { name, type: text }
}

function redefine(
  definition: StoredDefinition,
  ...changes: readonly TableChange[]
): StoredDefinition {
  return changes.reduce(redefineTable, definition)
}

const plain = defineTable({
  columns: [column('id'), column('a')],
  partitionBy: ['id'],
  partitionSort: [],
})

const add = (...names: string[]): TableChange => {
  return { kind: 'addColumns', table, columns: names.map(column) }
}
const drop = (...names: string[]): TableChange => ({ kind: 'dropColumns', table, names })

function keysOf({ columns }: StoredDefinition): string[] {
  return columns.map(({ name, id, key }) => `${name} ${id} ${key}`)
}

describe('the columns of a table', () => {
  test('use their names as keys', () => {
    assert.deepEqual(keysOf(redefine(plain, add('b', 'c'))), [
      ...['id 1 id', 'a 2 a', 'b 3 b', 'c 4 c'],
    ])
  })

  test('get keys and ids that no dropped column had', () => {
    const again = redefine(plain, drop('a'), add('a'), drop('a'), add('a', 'b'))
    assert.deepEqual(keysOf(again), ['id 1 id', 'a 4 a~3', 'b 5 b'])
    assert.deepEqual(
      again.dropped.map(({ key }) => key),
      ['a', 'a~2'],
    )
    // The added column has the name "a~2", which is already the key of a dropped column.
    assert.deepEqual(keysOf(redefine(again, add('a~2'))).at(-1), 'a~2 6 a~2~2')
  })

  test('get ids that no index has or had', () => {
    const index = { kind: 'regular', name: 'i', column: 'a', part: 'value' } as const
    const create: TableChange = { kind: 'createIndex', table, index }
    const dropped: TableChange = { kind: 'dropIndex', table, name: 'i' }
    const after = redefine(plain, create, dropped, add('b'), create)
    assert.deepEqual(keysOf(after).at(-1), 'b 4 b')
    assert.deepEqual(after.indexes, [{ ...index, id: 5 }])
    assert.equal(after.lastId, 5)
  })

  test('keep their keys and ids when an embedding service is added or removed', () => {
    const type = { type: 'vector', dimension: 3 } as const
    const columns = [{ name: 'v', type }]
    const vectors = redefine(plain, { kind: 'addColumns', table, columns })
    const service = { provider: 'p', modelName: 'm' }
    const put = (given: typeof service | null): TableChange => {
      return { kind: 'putServices', table, services: new Map([['v', given]]) }
    }
    const served = redefine(vectors, put(service))
    assert.deepEqual(served.columns.at(-1), {
      ...vectors.columns.at(-1),
      type: { ...type, service },
    })
    assert.deepEqual(redefine(served, put(null)), vectors)
  })
})

describe('the fields of a type', () => {
  const place = defineType({ name: 'place', fields: [{ name: 'a', type: 'int' }] })

  test('keep their keys when they are renamed', () => {
    const renamed = redefineType(place, { renamed: [['a', 'b']], added: [] })
    assert.deepEqual(renamed.fields, [{ name: 'b', type: 'int', key: 'a' }])
  })

  test('get new keys when they take the former name of a renamed field', () => {
    const added = [{ name: 'a', type: 'text' }] as const
    const { fields } = redefineType(place, { renamed: [['a', 'b']], added })
    assert.deepEqual(fields, [
      { name: 'b', type: 'int', key: 'a' },
      { name: 'a', type: 'text', key: 'a~2' },
    ])
  })
})
