import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Schemas } from './schemas.ts'

let count = 0

describe('createTextIndex', () => {
  const schemas = new Schemas()

  const create = (column: unknown, options?: unknown, more: object = {}) => ({
    createTextIndex: { name: `words_${++count}`, definition: { column, options }, ...more },
  })

  test('accepts analyzers by name and by definition, and lists analyzers in the form sent', async () => {
    const recipe = {
      tokenizer: { name: 'standard', args: {} },
      filters: [{ name: 'lowercase' }, { name: 'stop' }],
    }
    for (const [options, analyzer] of [
      [undefined, 'standard'],
      [{}, 'standard'],
      [{ analyzer: null }, 'standard'],
      [{ analyzer: {} }, 'standard'],
      [{ analyzer: 'English' }, 'English'],
      [{ analyzer: recipe }, recipe],
    ] as const) {
      const table = await schemas.table({ a: 'text' })
      await schemas.ok(table, create('a', options))
      const explain = { listIndexes: { options: { explain: true } } }
      const [index] = (await schemas.status(table, explain, 'indexes')) as object[]
      assert.deepEqual(index, {
        name: `words_${count}`,
        definition: { column: 'a', options: { analyzer } },
        indexType: 'text',
      })
    }
  })

  test('indexes ascii columns as well', async () => {
    await schemas.ok(await schemas.table({ a: 'ascii' }), create('a'))
  })

  test('rejects invalid analyzers', async () => {
    const table = await schemas.table({ a: 'text' })
    for (const [analyzer, type] of [
      [5, 'Number'],
      [true, 'Boolean'],
      [['standard'], 'Array'],
    ] as const)
      await schemas.refuse(
        table,
        create('a', { analyzer }),
        'UNSUPPORTED_JSON_TYPE_FOR_TEXT_INDEX',
        type,
      )
    for (const [analyzer, named] of [
      ['klingon', '"klingon"'],
      [{ tokenizer: { name: 'x' } }, '"x"'],
      [{ tokens: [] }, '"tokens"'],
    ] as const)
      await schemas.refuse(
        table,
        create('a', { analyzer }),
        'INVALID_CREATE_COLLECTION_OPTIONS',
        named,
      )
    await schemas.refuse(table, create('a', { x: 1 }), 'COMMAND_FIELD_UNKNOWN', '"x"')
  })

  test('rejects columns that do not exist or are not texts', async () => {
    const table = await schemas.table({ a: 'int', l: { type: 'list', valueType: 'text' } })
    for (const column of ['a', 'l'])
      await schemas.refuse(table, create(column), 'UNSUPPORTED_TEXT_INDEX_FOR_DATA_TYPES')
    await schemas.refuse(table, create('b'), 'UNKNOWN_INDEX_COLUMN', '"b"')
    await schemas.refuse(table, create({ l: '$values' }), 'REQUEST_STRUCTURE_MISMATCH')
  })

  test('rejects a second text index on a column', async () => {
    const table = await schemas.table({ a: 'text' })
    await schemas.ok(table, create('a'))
    await schemas.fail(
      table,
      create('a', { analyzer: 'english' }),
      'INVALID_INDEX_DEFINITION',
    )
    await schemas.ok(table, { createIndex: { name: 'by_a', definition: { column: 'a' } } })
  })

  test('accepts only the index type "text"', async () => {
    const table = await schemas.table({ a: 'text' })
    await schemas.refuse(
      table,
      create('a', {}, { indexType: 'regular' }),
      'UNSUPPORTED_INDEX_TYPE',
      'createTextIndex',
    )
    await schemas.ok(table, create('a', {}, { indexType: 'text' }))
  })

  test('rejects a request that switches lexical search off', async () => {
    const table = await schemas.table({ a: 'text' })
    const answer = await schemas.server.command(`/default_keyspace/${table}`, create('a'), {
      'Feature-Flag-lexical': 'false',
    })
    assert.deepEqual(answer.codes, ['LEXICAL_FEATURE_NOT_ENABLED'])
  })
})
