/** Schema changes on tables that contain rows, and during writes. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Schemas, times } from './schemas.ts'

type Row = Record<string, unknown>

describe('a schema change', () => {
  const schemas = new Schemas()

  const insert = async (table: string, ...rows: readonly Row[]) => {
    for (let at = 0; at < rows.length; at += 100) {
      const documents = rows.slice(at, at + 100)
      const inserted = await schemas.status(
        table,
        { insertMany: { documents } },
        'insertedIds',
      )
      assert.equal((inserted as unknown[]).length, documents.length)
    }
  }
  const find = async (table: string, filter: object = {}): Promise<readonly Row[]> => {
    const rows: Row[] = []
    for (let pageState: string | null | undefined; pageState !== null;) {
      const { codes, text, body } = await schemas.send(table, {
        find: { filter, options: { pageState } },
      })
      assert.deepEqual(codes, [], text)
      rows.push(...body.data!.documents!)
      pageState = body.data!.nextPageState!
    }
    return rows
  }
  const alter = (table: string, operation: object) =>
    schemas.ok(table, { alterTable: { operation } })

  test('that drops a column drops its values, so the column is empty when it is added again', async () => {
    const table = await schemas.table({ a: 'text', v: { type: 'vector', dimension: 2 } })
    await insert(table, { id: 1, a: 'old', v: [1, 2] }, { id: 2 })
    await alter(table, { drop: { columns: ['a', 'v'] } })
    assert.deepEqual(await find(table, { id: 1 }), [{ id: 1 }])
    await alter(table, {
      add: { columns: { a: 'text', v: { type: 'vector', dimension: 2 } } },
    })
    assert.deepEqual(await find(table, { id: 1 }), [{ id: 1 }])
    await insert(table, { id: 1, a: 'new' }, { id: 2, v: [3, 4] })
    assert.deepEqual(await find(table, { id: 1 }), [{ id: 1, a: 'new' }])
    assert.deepEqual(await find(table, { id: 2 }), [{ id: 2, v: [3, 4] }])
    assert.deepEqual(await find(table, { a: 'old' }), [])
  })

  test('that indexes a column adds existing rows to the index', async () => {
    const table = await schemas.table({ a: 'int', t: 'text' })
    await insert(table, ...times(250, (i) => ({ id: i, a: i % 5, t: `Word${i % 7} x` })))
    await schemas.ok(table, {
      createIndex: { name: 'rows_a', definition: { column: 'a' } },
    })
    await schemas.ok(table, {
      createTextIndex: { name: 'rows_t', definition: { column: 't' } },
    })
    assert.equal((await find(table, { a: 3 })).length, 50)
    assert.equal((await find(table, { t: { $match: 'word3' } })).length, 36)
    await schemas.ok('', { dropIndex: { name: 'rows_a' } })
    assert.equal((await find(table, { a: 3 })).length, 50)
  })

  test('that indexes a column adds rows written during the change to the index', async () => {
    const table = await schemas.table({ a: 'int' })
    await insert(table, ...times(500, (i) => ({ id: i, a: i % 5 })))
    await Promise.all([
      schemas.ok(table, { createIndex: { name: 'busy_a', definition: { column: 'a' } } }),
      ...times(40, (i) =>
        insert(table, ...times(10, (k) => ({ id: 1000 + i * 10 + k, a: k % 5 }))),
      ),
      ...times(40, (i) => insert(table, { id: i, a: 9 })),
    ])
    for (let a = 0; a < 5; a++)
      assert.equal((await find(table, { a })).length, (500 - 40) / 5 + 80, `a is ${a}`)
    assert.equal((await find(table, { a: 9 })).length, 40)
    assert.equal((await find(table)).length, 900)
  })

  test('that renames a field of a type keeps the values of this field in rows', async () => {
    await schemas.ok('', {
      createType: { name: 'place', definition: { fields: { city: 'text', n: 'int' } } },
    })
    const place = { type: 'userDefined', udtName: 'place' }
    const table = await schemas.table({ p: place, l: { type: 'list', valueType: place } })
    await insert(table, { id: 1, p: { city: 'Ghent', n: 3 }, l: [{ city: 'Bruges' }] })
    await schemas.ok('', {
      alterType: {
        name: 'place',
        rename: { fields: { city: 'town' } },
        add: { fields: { city: 'int' } },
      },
    })
    assert.deepEqual(await find(table, { id: 1 }), [
      { id: 1, l: [{ town: 'Bruges' }], p: { town: 'Ghent', n: 3 } },
    ])
    await insert(table, { id: 1, p: { town: 'Lier', city: 5 } })
    assert.deepEqual(await find(table, { id: 1 }), [
      { id: 1, l: [{ town: 'Bruges' }], p: { town: 'Lier', city: 5 } },
    ])
  })

  test('that drops a table lets concurrent inserts succeed or report the missing table', async () => {
    const table = await schemas.table({ a: 'int' })
    const answers = await Promise.all([
      ...times(20, (i) =>
        schemas.send(table, { insertOne: { document: { id: i, a: i } } }),
      ),
      schemas.send('', { dropTable: { name: table } }),
      ...times(20, (i) =>
        schemas.send(table, { insertOne: { document: { id: i, a: i } } }),
      ),
    ])
    for (const { codes } of answers)
      assert(codes.length === 0 || codes[0] === 'UNKNOWN_COLLECTION_OR_TABLE', codes[0])
  })
})
