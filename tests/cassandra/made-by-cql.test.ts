/** Tables that were created and filled by CQL, and are served without changes. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Client } from 'cassandra-driver'
import { makeChange } from '../../src/engine/cassandra/catalog/change-schema.ts'
import { defaultConsistency } from '../../src/engine/cassandra/cluster/consistency.ts'
import { sessionOf } from '../../src/engine/cassandra/cluster/open-cluster.ts'
import type { Engine } from '../../src/engine/contract.ts'
import type { KeyspaceCounts } from '../../src/engine/schema-change.ts'
import { apache } from '../engine/cassandra/capabilities.ts'
import { startServer, type TestServer } from '../harness.ts'
import { clientOf } from './connect.ts'
import { TestKeyspaces } from './test-keyspaces.ts'
import { testNode } from './test-node.ts'

describe('a table created by CQL', () => {
  let keyspaces: TestKeyspaces
  let engine: Engine
  let server: TestServer
  let client: Client

  const send = async (target: string, body: object) => {
    const {
      codes,
      text,
      body: answered,
    } = await server.command(`/default_keyspace${target}`, body)
    assert.deepEqual(codes, [], text)
    return answered
  }
  const refused = async (
    target: string,
    body: object,
    scope: string,
    ...says: string[]
  ) => {
    const { body: answered, text } = await server.command(
      `/default_keyspace${target}`,
      body,
    )
    const [error] = answered.errors ?? []
    assert.deepEqual(
      [error?.errorCode, error?.scope],
      ['UNSUPPORTED_COLUMN_TYPES', scope],
      text,
    )
    for (const said of says) assert(error!.message.includes(said), text)
  }

  before(async () => {
    keyspaces = await TestKeyspaces.make()
    engine = await keyspaces.open()
    server = await startServer({ checked: false }, engine)
    client = clientOf(await testNode(), {
      keyspace: keyspaces.nameOf('default_keyspace'),
    })
    for (const statement of [
      'CREATE TYPE spot (x int, y int)',
      `CREATE TABLE visits (
         place text, at timeuuid, guide text STATIC, names frozen<list<text>>,
         pair tuple<int, text>, nested list<frozen<list<int>>>, seat frozen<spot>, n int,
         PRIMARY KEY (place, at))`,
      'CREATE INDEX by_old_index ON visits (n)',
      'CREATE TABLE counts (id int PRIMARY KEY, hits counter)',
      `INSERT INTO visits (place, at, guide, names, pair, nested, seat, n) VALUES
         ('Oslo', 13814000-1dd2-11b2-8080-808080808080, 'Ann', ['a', 'b'], (1, 'x'),
          [[1]], {x: 1, y: 2}, 7)`,
      'UPDATE counts SET hits = hits + 3 WHERE id = 1',
    ])
      await client.execute(statement)
  })

  after(async () => {
    await client.shutdown()
    await server.close()
    await engine.close()
    await keyspaces.remove()
  })

  test('is described, including columns that the API does not support', async () => {
    const { status } = await send('', { listTables: { options: { explain: true } } })
    const tables = status!['tables'] as { name: string; definition: { columns: object } }[]
    assert.deepEqual(
      tables.map(({ name }) => name),
      ['counts', 'visits'],
    )
    const support = (lacking: readonly string[], cqlDefinition: string) => ({
      createTable: !lacking.includes('createTable'),
      insert: !lacking.includes('insert'),
      read: !lacking.includes('read'),
      filter: !lacking.includes('filter'),
      cqlDefinition,
    })
    const all = ['createTable', 'insert', 'read', 'filter']
    const unsupported = (cql: string) => ({
      type: 'UNSUPPORTED',
      apiSupport: support(all, cql),
    })
    const { columns } = tables[1]!.definition
    assert.deepEqual(columns, {
      place: { type: 'text' },
      at: { type: 'timeuuid', apiSupport: support(['createTable'], 'timeuuid') },
      guide: { type: 'text', apiSupport: support(['createTable'], 'static text') },
      n: { type: 'int' },
      names: {
        type: 'list',
        valueType: 'text',
        apiSupport: support(['createTable'], 'frozen<list<text>>'),
      },
      nested: unsupported('list<frozen<list<int>>>'),
      pair: unsupported('frozen<tuple<int, text>>'),
      seat: {
        type: 'userDefined',
        udtName: 'spot',
        apiSupport: support(['createTable', 'filter'], 'frozen<default_keyspace.spot>'),
      },
    })
    assert.deepEqual(tables[0]!.definition.columns, {
      id: { type: 'int' },
      hits: { type: 'counter', apiSupport: support(['createTable', 'insert'], 'counter') },
    })
    const listed = await send('/visits', { listIndexes: { options: { explain: true } } })
    const [index] = listed.status!['indexes'] as Record<string, unknown>[]
    assert.equal(index!['name'], 'by_old_index')
    assert.equal(index!['indexType'], 'UNKNOWN')
  })

  test('is read without unsupported columns, and rejects commands that use them', async () => {
    const projection = { pair: 0, nested: 0 }
    const { data } = await send('/visits', { find: { projection } })
    assert.deepEqual(data!.documents, [
      {
        place: 'Oslo',
        at: '13814000-1dd2-11b2-8080-808080808080',
        guide: 'Ann',
        n: 7,
        names: ['a', 'b'],
        seat: { x: 1, y: 2 },
      },
    ])
    await refused('/visits', { find: {} }, 'PROJECTION', 'nested', 'pair')
    await refused('/visits', { findOne: { projection: { pair: 1 } } }, 'PROJECTION', 'pair')
    const filter = { pair: [1, 'x'] }
    await refused('/visits', { find: { filter, projection } }, 'FILTER', 'tuple')
    const counted = await send('/counts', { find: {} })
    assert.deepEqual(counted.data!.documents, [{ id: 1, hits: 3 }])
  })

  test('accepts writes to its supported columns', async () => {
    const key = { place: 'Rome', at: '23814000-1dd2-11b2-8080-808080808080' }
    const projection = { pair: 0, nested: 0 }
    await send('/visits', {
      insertOne: { document: { ...key, guide: 'Bo', names: ['c'], seat: { x: 5 } } },
    })
    await send('/visits', { updateOne: { filter: key, update: { $set: { n: 1 } } } })
    const { data } = await send('/visits', { findOne: { filter: key, projection } })
    assert.deepEqual(data!.document, {
      ...key,
      guide: 'Bo',
      n: 1,
      names: ['c'],
      seat: { x: 5 },
    })
    const document = { ...key, pair: [1, 'x'] }
    await refused('/visits', { insertOne: { document } }, 'DOCUMENT', 'pair')
    const update = { $set: { nested: [[1]] } }
    await refused('/visits', { updateOne: { filter: key, update } }, 'UPDATE', 'nested')
    const hits = { insertOne: { document: { id: 2, hits: 1 } } }
    await refused('/counts', hits, 'DOCUMENT', 'hits')
  })

  test('reserves the names of unsupported columns until the columns are dropped', async () => {
    const add = { alterTable: { operation: { add: { columns: { pair: 'int' } } } } }
    const { codes } = await server.command('/default_keyspace/visits', add)
    assert.deepEqual(codes, ['CANNOT_ADD_EXISTING_COLUMNS'])
    const columns = ['pair', 'nested']
    await send('/visits', { alterTable: { operation: { drop: { columns } } } })
    await send('/visits', { find: {} })
    await send('', { dropIndex: { name: 'by_old_index' } })
  })

  test('is listed when its key is unsupported, and commands do not change its rows', async () => {
    const name = 'paired'
    await client.execute(
      `CREATE TABLE ${name} (
         id frozen<tuple<int, text>>, part int, n int, m int, PRIMARY KEY ((id, part), n))`,
    )
    await client.execute(`INSERT INTO ${name} (id, part, n) VALUES ((1, 'x'), 2, 7)`)
    const listed = await send('', { listTables: {} })
    assert((listed.status!['tables'] as string[]).includes(name))
    const explained = await send('', { listTables: { options: { explain: true } } })
    const tables = explained.status!['tables'] as { name: string; definition: object }[]
    const lacking = { createTable: false, insert: false, read: false, filter: false }
    const id = {
      type: 'UNSUPPORTED',
      apiSupport: { ...lacking, cqlDefinition: 'frozen<tuple<int, text>>' },
    }
    const int = { type: 'int' }
    const { definition } = tables.find((table) => table.name === name)!
    // The definitions are compared as JSON, which shows the order of the columns: key
    // columns first.
    assert.equal(
      JSON.stringify(definition),
      JSON.stringify({
        columns: { id, part: int, n: int, m: int },
        primaryKey: { partitionBy: ['id', 'part'], partitionSort: { n: 1 } },
      }),
    )

    const path = `/${name}`
    const typed = 'id(frozen<tuple<int, text>>)'
    const key = { part: 2, n: 7 }
    const update = { $set: { m: 1 } }
    await refused(path, { find: {} }, 'PROJECTION', typed)
    await refused(path, { findOne: { projection: { n: 1 } } }, 'PROJECTION', typed)
    await refused(path, { find: { projection: { id: 0 } } }, 'PROJECTION', typed, 'key')
    await refused(path, { insertOne: { document: key } }, 'DOCUMENT', typed)
    const document = { ...key, id: [1, 'x'] }
    await refused(path, { insertMany: { documents: [document] } }, 'DOCUMENT', typed)
    await refused(path, { updateOne: { filter: key, update } }, 'FILTER', typed)
    await refused(path, { deleteOne: { filter: key } }, 'FILTER', typed)
    await refused(path, { deleteMany: { filter: { part: 2 } } }, 'FILTER', typed)
    const index = { name: 'by_words', definition: { column: 'word' } }
    const add = { columns: { word: 'text' } }
    await send(path, { alterTable: { operation: { add } } })
    const { codes, text } = await server.command(`/default_keyspace${path}`, {
      createTextIndex: index,
    })
    assert.deepEqual(codes, ['UNSUPPORTED_DATABASE_QUERY'], text)
    await send(path, { createIndex: index })
    const { rows } = await client.execute(`SELECT n FROM ${name}`)
    assert.deepEqual(
      rows.map((row) => row.get('n') as number),
      [7],
    )
    await send(path, { deleteMany: {} })
    assert.equal((await client.execute(`SELECT n FROM ${name}`)).rows.length, 0)
  })

  test('reserves its name when its key is unsupported, until the table is dropped', async () => {
    const name = 'paired'
    const definition = { columns: { id: 'int' }, primaryKey: 'id' }
    const options = { lexical: { enabled: false } }
    for (const [body, code] of [
      [{ createTable: { name, definition } }, 'CANNOT_ADD_EXISTING_TABLE'],
      [{ createCollection: { name, options } }, 'EXISTING_TABLE_NOT_DATA_API_COLLECTION'],
    ] as const) {
      const { codes, text } = await server.command('/default_keyspace', body)
      assert.deepEqual(codes, [code], text)
    }
    await send('', { createTable: { name, definition, options: { ifNotExists: true } } })
    await send('', { dropTable: { name } })
    await send('', { createTable: { name, definition } })
  })

  const codesOf = async (target: string, body: object) => {
    const { codes, text } = await server.command(`/default_keyspace${target}`, body)
    return { codes, text }
  }

  test('can be filtered by its counters, and accepts no inserts', async () => {
    for (const [filter, found] of [
      [{ hits: 3 }, 1],
      [{ hits: { $gt: 3 } }, 0],
      [{ hits: { $in: [2, 3] } }, 1],
    ] as const) {
      const { data } = await send('/counts', { find: { filter } })
      assert.equal(data!.documents!.length, found, JSON.stringify(filter))
    }
    const documents = [{ id: 5 }, { id: 6, hits: 1 }]
    const { codes } = await codesOf('/counts', { insertMany: { documents } })
    assert.deepEqual(codes, Array(2).fill('UNSUPPORTED_COLUMN_TYPES'))
  })

  test('returns vectors that contain NaN or infinity as valid JSON', async () => {
    await client.execute('CREATE TABLE far (id int PRIMARY KEY, v vector<float, 3>)')
    await client.execute('INSERT INTO far (id, v) VALUES (1, [NaN, -Infinity, 1])')
    const { data } = await send('/far', { find: {} })
    assert.deepEqual(data!.documents, [{ id: 1, v: ['NaN', '-Infinity', 1] }])
  })

  test('rejects an index on frozen or static columns', async () => {
    const index = { name: 'by_names', definition: { column: 'names' } }
    const frozen = await codesOf('/visits', { createIndex: index })
    assert.deepEqual(frozen.codes, ['UNSUPPORTED_INDEXING_FOR_FROZEN_COLUMN'], frozen.text)
    const shared = { name: 'by_guide', definition: { column: 'guide' } }
    const { codes, text } = await codesOf('/visits', { createTextIndex: shared })
    assert.deepEqual(codes, ['UNSUPPORTED_DATABASE_QUERY'], text)
    assert(text.includes('static'), text)
    const { status } = await send('/visits', { listIndexes: {} })
    assert.deepEqual(status!['indexes'], [])
  })

  test('rejects an index on columns that the API does not support', async () => {
    await client.execute('CREATE TABLE twos (id int PRIMARY KEY, two tuple<int, int>)')
    for (const [command, code] of [
      ['createIndex', 'UNSUPPORTED_INDEXING_FOR_DATA_TYPES'],
      ['createVectorIndex', 'UNSUPPORTED_VECTOR_INDEX_FOR_DATA_TYPES'],
      ['createTextIndex', 'UNSUPPORTED_TEXT_INDEX_FOR_DATA_TYPES'],
    ] as const) {
      const index = { name: 'by_two', definition: { column: 'two' } }
      const { codes, text } = await codesOf('/twos', { [command]: index })
      assert.deepEqual(codes, [code], text)
      assert(text.includes('tuple'), text)
    }
  })

  test('rejects dropping a column until its CQL index is dropped', async () => {
    await client.execute(
      'CREATE TABLE aged (id int PRIMARY KEY, "Old" int, pair frozen<tuple<int, int>>)',
    )
    await client.execute('CREATE INDEX aged_old ON aged ("Old")')
    await client.execute('CREATE INDEX aged_pair ON aged (pair)')
    for (const [column, index] of [
      ['Old', 'aged_old'],
      ['pair', 'aged_pair'],
    ] as const) {
      const drop = { columns: [column] }
      const { codes, text } = await codesOf('/aged', {
        alterTable: { operation: { drop } },
      })
      assert.deepEqual(codes, ['CANNOT_DROP_INDEXED_COLUMNS'], text)
      assert(text.includes(index), text)
      await send('', { dropIndex: { name: index } })
      await send('/aged', { alterTable: { operation: { drop } } })
    }
  })

  test('reserves the names of unsupported types', async () => {
    await client.execute('CREATE TYPE path (steps frozen<list<int>>)')
    const type = { name: 'path', definition: { fields: { x: 'int' } } }
    const { codes, text } = await codesOf('', { createType: type })
    assert.deepEqual(codes, ['CANNOT_ADD_EXISTING_TYPE'], text)
    await send('', { createType: { ...type, options: { ifNotExists: true } } })
    const listed = await send('', { listTypes: {} })
    assert.deepEqual(listed.status!['types'], ['path', 'spot'])
    const explained = await send('', { listTypes: { options: { explain: true } } })
    const [path] = explained.status!['types'] as Record<string, unknown>[]
    assert.deepEqual([path!['type'], path!['udtName']], ['UNSUPPORTED', 'path'])
    await send('', { dropType: { name: 'path' } })
    await send('', { createType: type })
    await send('', { dropType: { name: 'path' } })
  })

  test('is read without an index that another client has just dropped', async () => {
    const rows = Array.from({ length: 25 }, (_, at) => ({ place: 'Bern', n: at }))
    await client.execute('CREATE TABLE stays (place text, n int, m int, PRIMARY KEY (n))')
    const documents = rows.map((row) => ({ ...row, m: 1 }))
    await send('/stays', { insertMany: { documents } })
    const filter = { m: 1 }
    const projection = { place: 1, n: 1 }
    const read = async (warned: Set<string>) => {
      const found: unknown[] = []
      let pageState: string | null | undefined
      do {
        const find = { filter, projection, options: { ...(pageState && { pageState }) } }
        const { data, status } = await send('/stays', { find })
        found.push(...data!.documents!)
        for (const { errorCode } of status!.warnings ?? []) warned.add(errorCode)
        pageState = data!.nextPageState
      } while (pageState)
      return found
    }
    const byNumber = (found: readonly unknown[]) =>
      (found as { n: number }[]).toSorted((a, b) => a.n - b.n)
    const retried = 'QUERY_RETRIED_DUE_TO_INDEXING'
    const warned = new Set<string>()
    // If the server has noticed the drop before the read, it warns about a missing index instead.
    // The test repeats until a read is retried because of the dropped index.
    for (let attempt = 1; !warned.has(retried); attempt++) {
      assert(attempt < 20, 'nothing was read with an index that was gone')
      const index = { name: 'stays_m', definition: { column: 'm' } }
      await send('/stays', { createIndex: index })
      await client.execute('DROP INDEX stays_m')
      warned.clear()
      assert.deepEqual(byNumber(await read(warned)), rows)
      assert(warned.size > 0)
    }
  })

  test('is listed and counted, but its views are not', async () => {
    await client.execute(
      `CREATE MATERIALIZED VIEW by_n AS SELECT n, place, at FROM visits
         WHERE n IS NOT NULL AND place IS NOT NULL AND at IS NOT NULL
         PRIMARY KEY (n, place, at)`,
    )
    let counted: readonly KeyspaceCounts[] = []
    await engine.changeSchema('default_keyspace', (_schema, counts) => {
      counted = counts
      return undefined
    })
    const listed = await send('', { listTables: {} })
    const names = listed.status!['tables'] as readonly string[]
    assert(names.includes('visits') && !names.includes('by_n'))
    // A node would create the table, report an error, and keep both table and view. So the server
    // must reject the name.
    const definition = { columns: { id: 'int' }, primaryKey: 'id' }
    for (const body of [
      { createTable: { name: 'by_n', definition } },
      { createTable: { name: 'by_n', definition, options: { ifNotExists: true } } },
      { createCollection: { name: 'by_n' } },
    ]) {
      const { codes, text } = await codesOf('', body)
      assert.deepEqual(codes, ['UNSUPPORTED_DATABASE_QUERY'], text)
      assert(text.includes('view'), text)
    }
    const view =
      "SELECT id FROM system_schema.tables WHERE keyspace_name = ? AND table_name = 'by_n'"
    const { rows } = await client.execute(view, [keyspaces.nameOf('default_keyspace')])
    assert.equal(rows.length, 0)
    const keyspace = 'default_keyspace'
    const own = counted.find((one) => one.keyspace === keyspace)
    assert.deepEqual(own, { keyspace, collections: 0, tables: names.length })
    await client.execute('DROP MATERIALIZED VIEW by_n')
  })

  test('is kept when createCollection with the same name has read the schema before the table existed', async () => {
    const session = sessionOf(client, { consistency: defaultConsistency })
    const access = {
      ...{ session, can: apache, keyspace: keyspaces.nameOf('default_keyspace') },
      unreadyIndexes: () => Promise.resolve(new Set<string>()),
      // The schema before the table was created.
      schema: { targets: [], types: [] },
    }
    const none = { enabled: false } as const
    const options = { lexical: none, rerank: none }
    await assert.rejects(
      makeChange(access, { kind: 'createCollection', name: 'counts', options }),
      { kind: 'unsupported', message: /existing table "counts"/ },
    )
    const { data } = await send('/counts', { find: {} })
    assert.deepEqual(data!.documents, [{ id: 1, hits: 3 }])
  })
})
