import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Schemas } from './schemas.ts'

describe('listTables', () => {
  const schemas = new Schemas()
  const list = (explain?: boolean) =>
    schemas.status('', { listTables: { options: { explain } } }, 'tables')

  test('returns an empty list for an empty keyspace', async () => {
    assert.deepEqual(await list(), [])
    assert.deepEqual(await schemas.status('', { listTables: {} }, 'tables'), [])
    assert.deepEqual(
      await schemas.status('', { listTables: { options: null } }, 'tables'),
      [],
    )
  })

  test('lists tables by name, and no collections', async () => {
    for (const name of ['b', 'a', 'C'])
      await schemas.ok('', {
        createTable: { name, definition: { columns: { id: 'int' }, primaryKey: 'id' } },
      })
    await schemas.ok('', { createCollection: { name: 'aa' } })
    assert.deepEqual(await list(false), ['C', 'a', 'b'])
    assert.deepEqual(await schemas.status('', { findCollections: {} }, 'collections'), [
      'aa',
    ])
  })

  test('lists columns with explain: key columns first, then the other columns by name', async () => {
    const definition = {
      columns: { z: 'int', b: { type: 'text' }, p: 'uuid', s: 'date', a: 'int' },
      primaryKey: { partitionBy: ['p'], partitionSort: { s: -1 } },
    }
    await schemas.ok('', { createTable: { name: 'ordered', definition } })
    const tables = (await list(true)) as object[]
    assert.equal(
      JSON.stringify(tables.at(-1)),
      JSON.stringify({
        name: 'ordered',
        definition: {
          columns: {
            p: { type: 'uuid' },
            s: { type: 'date' },
            a: { type: 'int' },
            b: { type: 'text' },
            z: { type: 'int' },
          },
          primaryKey: { partitionBy: ['p'], partitionSort: { s: -1 } },
        },
      }),
    )
  })

  test('rejects a keyspace that does not exist, and unknown options', async () => {
    await schemas.refuse('/nowhere', { listTables: {} }, 'UNKNOWN_KEYSPACE')
    await schemas.refuse('', { listTables: { options: { x: 1 } } }, 'COMMAND_FIELD_UNKNOWN')
    await schemas.refuse(
      '',
      { listTables: { options: { explain: 'yes' } } },
      'REQUEST_STRUCTURE_MISMATCH',
    )
  })
})
