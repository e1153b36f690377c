import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Schemas, times } from './schemas.ts'

describe('dropTable', () => {
  const schemas = new Schemas()
  const drop = (name: unknown, options?: object) => ({ dropTable: { name, options } })

  test('drops a table, whose name and index names can be used again', async () => {
    const name = await schemas.table({ a: 'int' })
    const index = { createIndex: { name: 'by_a', definition: { column: 'a' } } }
    await schemas.ok(name, index)
    await schemas.ok('', drop(name))
    await schemas.refuse(name, { listIndexes: {} }, 'UNKNOWN_COLLECTION_OR_TABLE')
    const other = await schemas.table({ a: 'int' })
    await schemas.ok(other, index)
    const definition = { columns: { b: 'text' }, primaryKey: 'b' }
    await schemas.ok('', { createTable: { name, definition } })
    assert.deepEqual(Object.keys((await schemas.explain(name)).columns), ['b'])
    assert.deepEqual(await schemas.status(name, { listIndexes: {} }, 'indexes'), [])
  })

  test('rejects a table that does not exist, unless ifExists is set', async () => {
    await schemas.fail('', drop('nowhere'), 'CANNOT_DROP_UNKNOWN_TABLE', '"nowhere"')
    await schemas.ok('', drop('nowhere', { ifExists: true }))
  })

  test('rejects the name of a collection, and keeps the collection', async () => {
    await schemas.ok('', { createCollection: { name: 'documents' } })
    await schemas.fail('', drop('documents'), 'CANNOT_DROP_UNKNOWN_TABLE', '"documents"')
    await schemas.ok('', drop('documents', { ifExists: true }))
    assert.equal(await schemas.status('documents', { countDocuments: {} }, 'count'), 0)
  })

  test('is required to drop a table, because deleteCollection keeps it', async () => {
    const name = await schemas.table()
    await schemas.ok('', { deleteCollection: { name } })
    await schemas.explain(name)
  })

  test('rejects a missing or empty name', async () => {
    for (const name of [undefined, null, ''])
      await schemas.refuse('', drop(name), 'COMMAND_FIELD_VALUE_INVALID', 'command.name')
  })

  test('succeeds for only one of several concurrent requests', async () => {
    const name = await schemas.table()
    const answers = await Promise.all(times(10, () => schemas.send('', drop(name))))
    assert.equal(answers.filter((answer) => answer.codes.length === 0).length, 1)
  })
})
