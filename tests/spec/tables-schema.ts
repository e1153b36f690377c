/** Tables, their columns, indexes and types: sections 1, 2.1, 2.5, 2.6, 2.7, 4.2 and 4.3. */
import assert from 'node:assert/strict'
import type { Api } from './api.ts'
import type { Area, Statement } from './statement.ts'

const spot = { type: 'userDefined', udtName: 'spot' }

/** One column of each type that section 2.5 names. */
const columns = {
  id: 'text',
  words: 'text',
  code: 'ascii',
  n: 'int',
  x: { type: 'float' },
  ok: 'boolean',
  day: 'date',
  tags: { type: 'set', valueType: 'text' },
  names: { type: 'list', valueType: 'text' },
  near: { type: 'vector', dimension: 2 },
  at: spot,
}

/** A type, a column of that type, and a value. */
const values: readonly (readonly [type: string, column: string, value: unknown])[] = [
  ['text', 'words', 'é and ✨'],
  ['ascii', 'code', 'abc'],
  ['int', 'n', 7],
  ['float', 'x', 0.5],
  ['boolean', 'ok', true],
  ['date', 'day', '2024-02-29'],
  ['set', 'tags', ['a', 'b']],
  ['list', 'names', ['b', 'a', 'b']],
  ['vector', 'near', [1, 0.5]],
  ['user-defined', 'at', { x: 1, y: 2 }],
]

interface Explained {
  readonly name: string
  readonly definition: { readonly columns: object; readonly primaryKey: object }
}

/** The definition of a table, from listTables with `explain`. */
async function explained(api: Api, name: string): Promise<Explained> {
  const { status } = await api.run('', { listTables: { options: { explain: true } } })
  return (status!['tables'] as Explained[]).find((table) => table.name === name)!
}

async function list(api: Api, target: string, command: object): Promise<string[]> {
  const { status } = await api.run(target, command)
  return Object.values(status!)[0] as string[]
}

/** Creates a table with the key `id`. */
function create(api: Api, name: string, more: object = {}): Promise<void> {
  const definition = { columns: { id: 'int', ...more }, primaryKey: 'id' }
  return api.ok('', { createTable: { name, definition } })
}

function refusesColumn(api: Api, column: unknown, expected: string): Promise<void> {
  const definition = { columns: { id: 'int', column }, primaryKey: 'id' }
  return api.refuses('', { createTable: { name: 'refused', definition } }, expected)
}

const alter = (operation: object) => ({ alterTable: { operation } })

/** Columns of types that the service does not offer. */
const unsupported: readonly (readonly [type: string, column: unknown, code: string])[] = [
  ['tuple', 'tuple', 'UNKNOWN_PRIMITIVE_DATA_TYPE'],
  ['frozen', { type: 'frozen', valueType: 'text' }, 'UNKNOWN_DATA_TYPE'],
  ['counter', 'counter', 'UNSUPPORTED_DATA_TYPE_TABLE_CREATION'],
]

export const tablesSchema: Area = {
  name: 'schemas of tables',
  prepare: async (api) => {
    const fields = { x: 'int', y: 'int' }
    await api.ok('', { createType: { name: 'spot', definition: { fields } } })
    const definition = { columns, primaryKey: 'id' }
    await api.ok('', { createTable: { name: 'typed', definition } })
    await create(api, 'altered', { old: 'text', camelCase: 'int' })
  },
  statements: [
    {
      id: 'tables-schema-01',
      section: '4.2',
      says: 'createTable creates a table with its full schema in one request',
      run: async (api) => {
        const { definition } = await explained(api, 'typed')
        assert.deepEqual(
          Object.keys(definition.columns).toSorted(),
          Object.keys(columns).toSorted(),
        )
      },
    },
    {
      id: 'tables-schema-02',
      section: '2.5',
      says: 'primaryKey is a string with the name of the partition key column',
      run: async (api) => {
        const { definition } = await explained(api, 'typed')
        const primaryKey = { partitionBy: ['id'], partitionSort: {} }
        assert.deepEqual(definition.primaryKey, primaryKey)
      },
    },
    {
      id: 'tables-schema-03',
      section: '2.5',
      says: 'primaryKey is an object with partitionBy and partitionSort',
      run: async (api) => {
        const primaryKey = { partitionBy: ['p', 'q'], partitionSort: { c: 1, d: -1 } }
        const definition = {
          columns: { p: 'int', q: 'int', c: 'int', d: 'int' },
          primaryKey,
        }
        await api.ok('', { createTable: { name: 'keyed', definition } })
        assert.deepEqual((await explained(api, 'keyed')).definition.primaryKey, primaryKey)
      },
    },
    {
      id: 'tables-schema-04',
      section: '2.5',
      says: 'partitionSort takes 1 and -1 only',
      run: (api) => {
        const primaryKey = { partitionBy: ['p'], partitionSort: { c: 2 } }
        const definition = { columns: { p: 'int', c: 'int' }, primaryKey }
        return api.refuses(
          '',
          { createTable: { name: 'refused', definition } },
          '/REQUEST_STRUCTURE_MISMATCH',
        )
      },
    },
    ...values.map(([type, column, value], at): Statement => ({
      id: `tables-schema-${String(5 + at).padStart(2, '0')}`,
      section: '2.5',
      says: `a column of the type ${type} keeps its value`,
      run: async (api) => {
        const id = `of ${column}`
        await api.run('typed', { insertOne: { document: { id, [column]: value } } })
        await api.finds('typed', { filter: { id } }, [{ id, [column]: value }])
      },
    })),
    ...unsupported.map(([type, column, code], at): Statement => ({
      id: `tables-schema-${15 + at}`,
      section: '7',
      says: `a column of the type ${type} is refused`,
      run: (api) => refusesColumn(api, column, `SCHEMA/${code}`),
    })),
    {
      id: 'tables-schema-18',
      section: '1',
      says: 'a static column is not offered',
      run: (api) =>
        refusesColumn(api, { type: 'int', static: true }, '/COMMAND_FIELD_UNKNOWN'),
    },
    {
      id: 'tables-schema-19',
      section: '1',
      says: 'createTable does not offer a default time to live',
      run: (api) => {
        const definition = { columns: { id: 'int' }, primaryKey: 'id' }
        const options = { defaultTimeToLive: 60 }
        return api.refuses(
          '',
          { createTable: { name: 'refused', definition, options } },
          '/COMMAND_FIELD_UNKNOWN',
        )
      },
    },
    {
      id: 'tables-schema-20',
      section: '2.5',
      says: 'a set requires the type of its values',
      run: (api) =>
        refusesColumn(api, { type: 'set' }, 'SCHEMA/UNSUPPORTED_SET_DEFINITION'),
    },
    {
      id: 'tables-schema-21',
      section: '2.5',
      says: 'a list requires the type of its values',
      run: (api) =>
        refusesColumn(api, { type: 'list' }, 'SCHEMA/UNSUPPORTED_LIST_DEFINITION'),
    },
    {
      id: 'tables-schema-22',
      section: '4.2',
      says: 'listTables returns names when explain is false',
      run: async (api) => {
        const listed = await list(api, '', { listTables: { options: { explain: false } } })
        assert(listed.includes('typed') && listed.includes('altered'), listed.join())
      },
    },
    {
      id: 'tables-schema-23',
      section: '4.2',
      says: 'listTables returns metadata when explain is true',
      run: async (api) => {
        const { definition } = await explained(api, 'typed')
        const { n, tags } = definition.columns as Record<string, object>
        assert.deepEqual({ n, tags }, { n: { type: 'int' }, tags: columns.tags })
      },
    },
    {
      id: 'tables-schema-24',
      section: '2.1',
      says: 'a keyspace holds collections and several tables',
      run: async (api) => {
        await api.ok('', { createCollection: { name: 'beside_tables' } })
        const collections = await list(api, '', { findCollections: {} })
        const tables = await list(api, '', { listTables: {} })
        assert(collections.includes('beside_tables') && !collections.includes('typed'))
        assert(tables.length > 1 && !tables.includes('beside_tables'))
      },
    },
    {
      id: 'tables-schema-25',
      section: '4.2',
      says: 'dropTable drops a table and its data',
      run: async (api) => {
        await create(api, 'dropped')
        await api.run('dropped', { insertOne: { document: { id: 1 } } })
        await api.ok('', { dropTable: { name: 'dropped' } })
        await api.refuses('dropped', { find: {} }, 'SCHEMA/UNKNOWN_COLLECTION_OR_TABLE')
        await create(api, 'dropped')
        await api.finds('dropped', {}, [])
      },
    },
    {
      id: 'tables-schema-26',
      section: '4.3',
      says: 'alterTable adds several columns at once',
      run: async (api) => {
        await api.ok('altered', alter({ add: { columns: { a: 'int', b: 'text' } } }))
        await api.run('altered', { insertOne: { document: { id: 25, a: 1, b: 'x' } } })
        await api.finds('altered', { filter: { id: 25 } }, [{ id: 25, a: 1, b: 'x' }])
      },
    },
    {
      id: 'tables-schema-27',
      section: '4.3',
      says: 'alterTable drops several columns at once',
      run: async (api) => {
        await api.ok('altered', alter({ add: { columns: { c: 'int', d: 'text' } } }))
        await api.ok('altered', alter({ drop: { columns: ['c', 'd'] } }))
        const found = Object.keys((await explained(api, 'altered')).definition.columns)
        assert(!found.includes('c') && !found.includes('d'), found.join())
      },
    },
    {
      id: 'tables-schema-28',
      section: '2.5',
      says: 'dropping a column deletes the stored data',
      run: async (api) => {
        await api.run('altered', { insertOne: { document: { id: 27, old: 'x' } } })
        await api.ok('altered', alter({ drop: { columns: ['old'] } }))
        await api.ok('altered', alter({ add: { columns: { old: 'text' } } }))
        await api.finds('altered', { filter: { id: 27 } }, [{ id: 27 }])
      },
    },
    {
      id: 'tables-schema-29',
      section: '2.5',
      says: 'a column changes its type by being dropped and added again',
      run: async (api) => {
        await api.ok('altered', alter({ add: { columns: { retyped: 'text' } } }))
        await api.ok('altered', alter({ drop: { columns: ['retyped'] } }))
        await api.ok('altered', alter({ add: { columns: { retyped: 'int' } } }))
        await api.run('altered', { insertOne: { document: { id: 28, retyped: 1 } } })
        await api.finds('altered', { filter: { id: 28 } }, [{ id: 28, retyped: 1 }])
      },
      deviation: {
        on: 'cassandra',
        difference: 81,
        says: 'adding a dropped column with another type is refused',
        run: async (api) => {
          await api.ok('altered', alter({ add: { columns: { retyped: 'text' } } }))
          await api.ok('altered', alter({ drop: { columns: ['retyped'] } }))
          await api.refuses(
            'altered',
            alter({ add: { columns: { retyped: 'int' } } }),
            'SCHEMA/CANNOT_ADD_PREVIOUSLY_DROPPED_COLUMN',
            { status: { ok: 0 } },
          )
        },
      },
    },
    {
      id: 'tables-schema-30',
      section: '2.5',
      says: 'the type of a column cannot be changed',
      run: (api) =>
        api.refuses(
          'typed',
          alter({ add: { columns: { n: 'text' } } }),
          'SCHEMA/CANNOT_ADD_EXISTING_COLUMNS',
        ),
    },
    {
      id: 'tables-schema-31',
      section: '2.5',
      says: 'a column cannot be renamed',
      run: (api) =>
        api.refuses(
          'typed',
          alter({ rename: { columns: { n: 'm' } } }),
          '/COMMAND_UNKNOWN',
        ),
    },
    {
      id: 'tables-schema-32',
      section: '2.5',
      says: 'a table cannot be renamed',
      run: (api) =>
        api.refuses(
          '',
          { renameTable: { name: 'typed', to: 'other' } },
          '/COMMAND_UNKNOWN',
        ),
    },
    {
      id: 'tables-schema-33',
      section: '4.3',
      says: 'createIndex creates an index on a column',
      run: async (api) => {
        const definition = { column: 'n' }
        await api.ok('typed', { createIndex: { name: 'typed_n', definition } })
        await api.warns('typed', { filter: { n: 7 } })
      },
    },
    {
      id: 'tables-schema-34',
      section: '4.3',
      says: 'listIndexes returns names when explain is false',
      run: async (api) => {
        const definition = { column: 'ok' }
        await api.ok('typed', { createIndex: { name: 'typed_ok', definition } })
        const listed = await list(api, 'typed', {
          listIndexes: { options: { explain: false } },
        })
        assert(listed.includes('typed_ok'), listed.join())
      },
    },
    {
      id: 'tables-schema-35',
      section: '4.3',
      says: 'listIndexes returns names and definitions when explain is true',
      run: async (api) => {
        const definition = { column: 'x' }
        await api.ok('typed', { createIndex: { name: 'typed_x', definition } })
        const { status } = await api.run('typed', {
          listIndexes: { options: { explain: true } },
        })
        const indexes = status!['indexes'] as { name: string }[]
        assert.deepEqual(
          indexes.find(({ name }) => name === 'typed_x'),
          {
            name: 'typed_x',
            definition: { column: 'x', options: {} },
            indexType: 'regular',
          },
        )
      },
    },
    {
      id: 'tables-schema-36',
      section: '4.3',
      says: 'dropIndex drops an index',
      run: async (api) => {
        const definition = { column: 'day' }
        await api.ok('typed', { createIndex: { name: 'typed_day', definition } })
        await api.ok('typed', { dropIndex: { name: 'typed_day' } })
        const listed = await list(api, 'typed', { listIndexes: {} })
        assert(!listed.includes('typed_day'), listed.join())
      },
    },
    {
      id: 'tables-schema-37',
      section: '2.6',
      says: 'an index requires a column of the table',
      run: (api) =>
        api.refuses(
          'typed',
          { createIndex: { name: 'typed_absent', definition: { column: 'absent' } } },
          'SCHEMA/UNKNOWN_INDEX_COLUMN',
        ),
    },
    {
      id: 'tables-schema-38',
      section: '2.5',
      says: 'names of indexed columns must be in snake case',
      run: async (api) => {
        const definition = { column: 'camelCase' }
        const { status } = await api.run('altered', {
          createIndex: { name: 'altered_camel', definition },
        })
        assert.equal(status!['ok'], 1)
        assert.deepEqual(
          status!.warnings!.map(({ errorCode }) => errorCode),
          ['INDEXED_COLUMN_NOT_SNAKE_CASE'],
        )
      },
      deviation: { difference: 53, says: 'other names are indexed with a warning' },
    },
    {
      id: 'tables-schema-39',
      section: '4.2',
      says: 'createType creates a user-defined type',
      run: async (api) => {
        const definition = { fields: { street: 'text', number: 'int' } }
        await api.ok('', { createType: { name: 'created', definition } })
        assert((await list(api, '', { listTypes: {} })).includes('created'))
      },
    },
    {
      id: 'tables-schema-40',
      section: '4.2',
      says: 'listTypes returns the fields when explain is true',
      run: async (api) => {
        const { status } = await api.run('', { listTypes: { options: { explain: true } } })
        const types = status!['types'] as { udtName: string; definition: object }[]
        const fields = { x: { type: 'int' }, y: { type: 'int' } }
        assert.deepEqual(types.find(({ udtName }) => udtName === 'spot')!.definition, {
          fields,
        })
      },
    },
    {
      id: 'tables-schema-41',
      section: '4.2',
      says: 'alterType renames the fields of a type',
      run: async (api) => {
        const fields = { old: 'text' }
        await api.ok('', { createType: { name: 'renamed', definition: { fields } } })
        const rename = { fields: { old: 'new' } }
        await api.ok('', { alterType: { name: 'renamed', rename } })
        const { status } = await api.run('', { listTypes: { options: { explain: true } } })
        const types = status!['types'] as { udtName: string; definition: object }[]
        assert.deepEqual(types.find(({ udtName }) => udtName === 'renamed')!.definition, {
          fields: { new: { type: 'text' } },
        })
      },
    },
    {
      id: 'tables-schema-42',
      section: '4.2',
      says: 'dropType drops a type',
      run: async (api) => {
        const definition = { fields: { a: 'int' } }
        await api.ok('', { createType: { name: 'gone', definition } })
        await api.ok('', { dropType: { name: 'gone' } })
        assert(!(await list(api, '', { listTypes: {} })).includes('gone'))
      },
    },
    {
      id: 'tables-schema-43',
      section: '2.5',
      says: 'a table changes the types of its columns by being dropped and created again',
      run: async (api) => {
        await create(api, 'recreated', { a: 'text' })
        await api.run('recreated', { insertOne: { document: { id: 1, a: 'x' } } })
        await api.ok('', { dropTable: { name: 'recreated' } })
        await create(api, 'recreated', { a: 'int' })
        await api.run('recreated', { insertOne: { document: { id: 1, a: 1 } } })
        await api.finds('recreated', {}, [{ id: 1, a: 1 }])
      },
    },
    {
      id: 'tables-schema-44',
      section: '4.3',
      says: 'alterTable drops a column of a user-defined type',
      run: async (api) => {
        await api.ok('altered', alter({ add: { columns: { dropped: spot } } }))
        await api.ok('altered', alter({ drop: { columns: ['dropped'] } }))
      },
      deviation: {
        on: 'cassandra',
        difference: 81,
        says: 'alterTable refuses to drop a column of a user-defined type',
        run: async (api) => {
          await api.ok('altered', alter({ add: { columns: { dropped: spot } } }))
          await api.refuses(
            'altered',
            alter({ drop: { columns: ['dropped'] } }),
            'SCHEMA/CANNOT_DROP_USER_DEFINED_COLUMNS',
            { status: { ok: 0 } },
          )
        },
      },
    },
  ],
}
