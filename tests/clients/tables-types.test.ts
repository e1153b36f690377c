/** User-defined types, and their values in rows. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { date, uuid } from '@datastax/astra-db-ts'
import { keyspace, refusal, Service } from './client.ts'
import { plain } from './tables.ts'

const service = await Service.start()
const db = service.connect()

const address = { fields: { street: 'text', number: { type: 'int' } } } as const

const addressSupport = {
  createTable: true,
  insert: true,
  read: true,
  filter: false,
  cqlDefinition: `${keyspace}.address`,
}

const people = {
  columns: {
    id: 'text',
    home: { type: 'userDefined', udtName: 'address' },
    earlier: { type: 'list', valueType: { type: 'userDefined', udtName: 'address' } },
    shared: { type: 'set', valueType: { type: 'userDefined', udtName: 'address' } },
    named: {
      type: 'map',
      keyType: 'text',
      valueType: { type: 'userDefined', udtName: 'address' },
    },
    dated: {
      type: 'map',
      keyType: 'date',
      valueType: { type: 'userDefined', udtName: 'address' },
    },
  },
  primaryKey: 'id',
} as const

const nobody = { earlier: [], shared: new Set(), named: new Map(), dated: new Map() }
const nowhere = { street: null, number: null }

let count = 0

async function createPeople() {
  await db.createType('address', { definition: address, ifNotExists: true })
  return db.createTable(`people${++count}`, { definition: people })
}

describe('a type', () => {
  test('is created, listed and dropped', async () => {
    assert.deepEqual(await db.listTypes(), [])
    await db.createType('address', { definition: address })
    assert.deepEqual(await db.listTypes({ nameOnly: true }), ['address'])
    assert.deepEqual(await db.listTypes(), [
      {
        name: 'address',
        definition: { fields: { street: { type: 'text' }, number: { type: 'int' } } },
        apiSupport: addressSupport,
      },
    ])
    await db.dropType('address')
    assert.deepEqual(await db.listTypes({ nameOnly: true }), [])
  })

  test('has a unique name, except with ifNotExists', async () => {
    await db.createType('twice', { definition: address })
    const again = await refusal(db.createType('twice', { definition: address }))
    assert.equal(again.errorCode, 'CANNOT_ADD_EXISTING_TYPE')
    await db.createType('twice', { definition: address, ifNotExists: true })
    await db.dropType('twice')
    const gone = await refusal(db.dropType('twice'))
    assert.equal(gone.errorCode, 'CANNOT_DROP_UNKNOWN_TYPE')
    await db.dropType('twice', { ifExists: true })
  })

  test('can be created in another keyspace', async () => {
    await db.admin({ environment: 'hcd' }).createKeyspace('elsewhere')
    await db.createType('there', { definition: address, keyspace: 'elsewhere' })
    const names = await db.listTypes({ nameOnly: true, keyspace: 'elsewhere' })
    assert.deepEqual(names, ['there'])
    assert.deepEqual(await db.listTypes({ nameOnly: true }), [])
    await db.dropType('there', { keyspace: 'elsewhere' })
  })

  test('requires fields, and rejects lists as their types', async () => {
    const none = await refusal(db.createType('bad', { definition: { fields: {} } }))
    assert.equal(none.errorCode, 'MISSING_FIELDS_FOR_TYPE_CREATION')
    const fields = { f: { type: 'list', valueType: 'int' } as never }
    const list = await refusal(db.createType('bad', { definition: { fields } }))
    assert.equal(list.errorCode, 'UNSUPPORTED_TYPE_FIELDS')
  })

  test('cannot be dropped while a table uses it', async () => {
    const table = await createPeople()
    const error = await refusal(db.dropType('address'))
    assert.equal(error.errorCode, 'CANNOT_DROP_TYPE_USED_BY_TABLE')
    await table.drop()
    await db.dropType('address')
  })

  test('is part of the definition of a column', async () => {
    const table = await createPeople()
    const { columns } = await table.definition()
    const type = { type: 'userDefined', udtName: 'address' }
    assert.deepEqual(columns, {
      ...people.columns,
      id: { type: 'text' },
      home: { ...type, apiSupport: addressSupport },
    })
    await table.drop()
  })
})

describe('values of a type', () => {
  const home = { street: 'Main St', number: 1 }
  const other = { street: 'Side St', number: 2 }

  test('are stored whole in columns, lists, sets and maps', async () => {
    const table = await createPeople()
    const row = {
      id: 'a',
      home,
      earlier: [other, home, other],
      shared: new Set([home, other]),
      named: new Map([
        ['summer', home],
        ['winter', other],
      ]),
      dated: new Map([[date('2020-01-31'), home]]),
    }
    await table.insertOne(row)
    assert.deepEqual(plain(await table.findOne({ id: 'a' })), plain(row))
    await table.drop()
  })

  test('may lack fields, which the client returns as null', async () => {
    const table = await createPeople()
    await table.insertMany([
      { id: 'a', home: { street: 'Main St' }, earlier: [{ number: 3 }, {}] },
      { id: 'b', home: { street: null, number: null } },
      { id: 'c' },
    ])
    const find = (id: string) => table.findOne({ id })
    assert.deepEqual(await find('a'), {
      ...nobody,
      id: 'a',
      home: { street: 'Main St', number: null },
      earlier: [{ street: null, number: 3 }, nowhere],
    })
    assert.deepEqual(await find('b'), { ...nobody, id: 'b', home: nowhere })
    assert.deepEqual(await find('c'), { ...nobody, id: 'c', home: nowhere })
    const sparse = db.table(table.name, { serdes: { sparseData: true } })
    assert.deepEqual(await sparse.findOne({ id: 'a' }), {
      id: 'a',
      home: { street: 'Main St' },
      earlier: [{ number: 3 }, {}],
    })
    assert.deepEqual(await sparse.findOne({ id: 'b' }), { id: 'b' })
    await table.drop()
  })

  test('are replaced whole by $set', async () => {
    const table = await createPeople()
    await table.insertOne({ id: 'a', home, earlier: [home] })
    await table.updateOne(
      { id: 'a' },
      { $set: { home: { number: 9 } }, $push: { earlier: other } },
    )
    const found = (await table.findOne({ id: 'a' }))!
    assert.deepEqual(found.home, { street: null, number: 9 })
    assert.deepEqual(found.earlier, [home, other])
    const part = table.updateOne({ id: 'a' }, { $set: { 'home.street': 'New St' } })
    assert.equal((await refusal(part)).errorCode, 'UNKNOWN_TABLE_COLUMNS')
    await table.drop()
  })

  test('are found in lists, sets and maps by all their fields', async () => {
    const table = await createPeople()
    await table.insertMany([
      { id: 'a', earlier: [home], named: new Map([['x', other]]) },
      { id: 'b', earlier: [other, home], named: new Map([['x', home]]) },
    ])
    const ids = async (filter: object) => {
      const found = await table.find(filter).toArray()
      return found.map(({ id }) => id).toSorted()
    }
    assert.deepEqual(await ids({ earlier: { $in: [other] } }), ['b'])
    assert.deepEqual(await ids({ earlier: { $all: [home] } }), ['a', 'b'])
    assert.deepEqual(await ids({ named: { $values: { $in: [home] } } }), ['b'])
    assert.deepEqual(await ids({ named: { $in: [['x', other]] } }), ['a'])
    await table.drop()
  })

  test('reject unknown fields and values of other types', async () => {
    const table = await createPeople()
    for (const wrong of [{ city: 'Berlin' }, { number: 'one' }]) {
      const error = await refusal(table.insertOne({ id: 'a', home: wrong }))
      assert.equal(error.errorCode, 'INVALID_COLUMN_VALUES')
      assert(error.message.includes('home'))
    }
    const inFilter = await refusal(table.findOne({ home }))
    assert.equal(inFilter.errorCode, 'FILTER_UNSUPPORTED_DATA_TYPE')
    await table.drop()
  })

  test('keep their contents when fields are added and renamed', async () => {
    const table = await createPeople()
    await table.insertOne({ id: 'a', home, earlier: [home] })
    await db.alterType('address', { operation: { add: { fields: { city: 'text' } } } })
    await db.alterType('address', {
      operation: { rename: { fields: { street: 'road' } } },
    })
    const [type] = await db.listTypes()
    assert.deepEqual(Object.keys(type!.definition!.fields).toSorted(), [
      'city',
      'number',
      'road',
    ])
    const shown = { road: 'Main St', number: 1, city: null }
    const found = (await table.findOne({ id: 'a' }))!
    assert.deepEqual([found.home, found.earlier], [shown, [shown]])
    const moved = { road: 'New St', number: 2, city: 'Berlin' }
    await table.updateOne({ id: 'a' }, { $set: { home: moved } })
    assert.deepEqual((await table.findOne({ id: 'a' }))!.home, moved)
    await table.drop()
    await db.dropType('address')
  })

  test('return fields of different types as they were inserted, in columns and in maps', async () => {
    const fields = {
      big: 'bigint',
      whole: 'varint',
      exact: 'decimal',
      day: 'date',
      key: 'uuid',
      long: 'duration',
      from: 'inet',
      at: 'timestamp',
      clock: 'time',
      flag: 'boolean',
      real: 'double',
    } as const
    await db.createType('everything', { definition: { fields } })
    const table = await db.createTable('of_everything', {
      definition: {
        columns: {
          id: 'int',
          it: { type: 'userDefined', udtName: 'everything' },
          by: {
            type: 'map',
            keyType: 'int',
            valueType: { type: 'userDefined', udtName: 'everything' },
          },
        },
        primaryKey: 'id',
      },
    })
    const it = {
      big: 9007199254740993n,
      whole: 123456789012345678901234567890n,
      exact: null,
      day: date('1999-12-31'),
      key: uuid('0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0ff'),
      long: null,
      from: null,
      at: new Date(1_700_000_000_123),
      clock: null,
      flag: false,
      real: -Infinity,
    }
    await table.insertOne({ id: 1, it, by: new Map([[7, it]]) })
    const found = await table.findOne({ id: 1 })
    assert.deepEqual(plain(found), plain({ id: 1, it, by: new Map([[7, it]]) }))
    await table.drop()
    await db.dropType('everything')
  })
})
