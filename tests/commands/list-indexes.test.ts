import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Schemas } from './schemas.ts'

describe('listIndexes', () => {
  const schemas = new Schemas()

  test('lists indexes of all types by name', async () => {
    const table = await schemas.table({
      a: 'text',
      v: { type: 'vector', dimension: 2 },
      m: { type: 'map', keyType: 'int', valueType: 'int' },
    })
    const other = await schemas.table({ a: 'text' })
    const create = (target: string, command: string, name: string, column: unknown) =>
      schemas.ok(target, { [command]: { name, definition: { column } } })
    await create(table, 'createVectorIndex', 'b', 'v')
    await create(table, 'createIndex', 'c', 'm')
    await create(table, 'createTextIndex', 'a', 'a')
    await create(other, 'createIndex', 'elsewhere', 'a')
    const list = (options: unknown) =>
      schemas.status(table, { listIndexes: { options } }, 'indexes')
    for (const options of [undefined, null, {}, { explain: false }])
      assert.deepEqual(await list(options), ['a', 'b', 'c'])
    assert.deepEqual(await list({ explain: true }), [
      {
        name: 'a',
        definition: { column: 'a', options: { analyzer: 'standard' } },
        indexType: 'text',
      },
      {
        name: 'b',
        definition: { column: 'v', options: { metric: 'cosine', sourceModel: 'other' } },
        indexType: 'vector',
      },
      { name: 'c', definition: { column: 'm', options: {} }, indexType: 'regular' },
    ])
  })

  test('rejects a table that does not exist, and unknown options', async () => {
    await schemas.refuse('nowhere', { listIndexes: {} }, 'UNKNOWN_COLLECTION_OR_TABLE')
    const table = await schemas.table()
    await schemas.refuse(
      table,
      { listIndexes: { options: { x: 1 } } },
      'COMMAND_FIELD_UNKNOWN',
    )
  })
})
