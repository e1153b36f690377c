import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Schemas, times } from './schemas.ts'

describe('dropIndex', () => {
  const schemas = new Schemas()
  const create = (name: string, column = 'a') => ({
    createIndex: { name, definition: { column } },
  })
  const drop = (name: unknown, options?: object) => ({ dropIndex: { name, options } })
  const indexesOf = (table: string) => schemas.status(table, { listIndexes: {} }, 'indexes')

  test('drops an index of any table when sent to the keyspace', async () => {
    const one = await schemas.table({ a: 'int', b: 'int' })
    const other = await schemas.table({ a: 'int' })
    await schemas.ok(one, create('one_a'))
    await schemas.ok(one, create('one_b', 'b'))
    await schemas.ok(other, create('other_a'))
    await schemas.ok('', drop('other_a'))
    await schemas.ok('', drop('one_a'))
    assert.deepEqual(await indexesOf(one), ['one_b'])
    assert.deepEqual(await indexesOf(other), [])
    await schemas.ok(other, create('one_a'))
  })

  test('drops an index only of the table that it is sent to', async () => {
    const one = await schemas.table({ a: 'int' })
    const other = await schemas.table({ a: 'int' })
    await schemas.ok(one, create('owned'))
    await schemas.fail(other, drop('owned'), 'CANNOT_DROP_UNKNOWN_INDEX', '"owned"')
    await schemas.ok(other, drop('owned', { ifExists: true }))
    assert.deepEqual(await indexesOf(one), ['owned'])
    await schemas.ok(one, drop('owned'))
    assert.deepEqual(await indexesOf(one), [])
  })

  test('rejects an index that does not exist, unless ifExists is set', async () => {
    await schemas.fail('', drop('nowhere'), 'CANNOT_DROP_UNKNOWN_INDEX', '"nowhere"')
    await schemas.ok('', drop('nowhere', { ifExists: true }))
    for (const name of [undefined, null, ''])
      await schemas.refuse('', drop(name), 'COMMAND_FIELD_VALUE_INVALID', 'command.name')
    await schemas.refuse('/nowhere', drop('a'), 'UNKNOWN_KEYSPACE')
    await schemas.refuse('nowhere', drop('a'), 'UNKNOWN_COLLECTION_OR_TABLE')
  })

  test('succeeds for only one of several concurrent requests', async () => {
    const table = await schemas.table({ a: 'int' })
    await schemas.ok(table, create('contested'))
    const answers = await Promise.all(
      times(10, (i) => schemas.send(i % 2 === 0 ? '' : table, drop('contested'))),
    )
    assert.equal(answers.filter((answer) => answer.codes.length === 0).length, 1)
  })
})
