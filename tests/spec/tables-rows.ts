/** Commands that change rows of tables: sections 1, 4.3 and 7. */
import type { Api } from './api.ts'
import type { Area, Statement } from './statement.ts'

const changed = { status: { matchedCount: 1, modifiedCount: 1 } }
const deleted = { status: { deletedCount: -1 } }

function insert(api: Api, ...documents: object[]) {
  return api.run('rows', { insertMany: { documents } })
}

/** Filters that do not select one row by its primary key with `$eq`. */
const restricted: readonly (readonly [says: string, filter: object, code: string])[] = [
  [
    'a filter on a column that is not in the primary key',
    { p: 'x', c: 1, a: 1 },
    'UNSUPPORTED_NON_PRIMARY_KEY_FILTER_FOR_UPDATE_DELETE',
  ],
  [
    'a filter with an operator other than $eq',
    { p: 'x', c: { $gt: 1 } },
    'UNSUPPORTED_FILTER_FOR_UPDATE_ONE_DELETE_ONE',
  ],
  [
    'a filter on a part of the primary key',
    { p: 'x' },
    'MISSING_FULL_PRIMARY_KEY_FOR_UPDATE_DELETE',
  ],
]

const unoffered = ['raw', 'consistency', 'serialConsistency']

export const tablesRows: Area = {
  name: 'rows',
  prepare: (api) => {
    const columns = { p: 'text', c: 'int', a: 'int', b: 'text' }
    const primaryKey = { partitionBy: ['p'], partitionSort: { c: 1 } }
    return api.ok('', {
      createTable: { name: 'rows', definition: { columns, primaryKey } },
    })
  },
  statements: [
    {
      id: 'tables-rows-01',
      section: '4.3',
      says: 'insertMany inserts rows',
      run: async (api) => {
        const documents = [
          { p: 'many', c: 1, a: 1 },
          { p: 'many', c: 2, b: 'x' },
        ]
        await api.replies(
          'rows',
          { insertMany: { documents } },
          {
            status: {
              primaryKeySchema: { p: { type: 'text' }, c: { type: 'int' } },
              insertedIds: [
                ['many', 1],
                ['many', 2],
              ],
            },
          },
        )
        await api.finds('rows', { filter: { p: 'many' } }, documents)
      },
    },
    {
      id: 'tables-rows-02',
      section: '4.3',
      says: 'an insert with the key of an existing row overwrites it with the given values',
      run: async (api) => {
        await insert(api, { p: 'again', c: 1, a: 1, b: 'old' })
        await insert(api, { p: 'again', c: 1, a: 2, b: 'new' })
        await api.finds('rows', { filter: { p: 'again' } }, [
          { p: 'again', c: 1, a: 2, b: 'new' },
        ])
      },
    },
    {
      id: 'tables-rows-03',
      section: '4.3',
      says: 'updateOne with $set updates one row',
      run: async (api) => {
        await insert(api, { p: 'set', c: 1, a: 1, b: 'x' }, { p: 'set', c: 2, a: 1 })
        const updateOne = { filter: { p: 'set', c: 1 }, update: { $set: { a: 2 } } }
        await api.replies('rows', { updateOne }, changed)
        await api.finds('rows', { filter: { p: 'set' } }, [
          { p: 'set', c: 1, a: 2, b: 'x' },
          { p: 'set', c: 2, a: 1 },
        ])
      },
    },
    {
      id: 'tables-rows-04',
      section: '4.3',
      says: 'an update of a row that does not exist creates it',
      run: async (api) => {
        const updateOne = { filter: { p: 'upsert', c: 1 }, update: { $set: { a: 1 } } }
        await api.replies('rows', { updateOne }, changed)
        const row = { p: 'upsert', c: 1, a: 1 }
        await api.finds('rows', { filter: { p: 'upsert' } }, [row])
      },
    },
    {
      id: 'tables-rows-05',
      section: '4.3',
      says: 'an update that only unsets values creates no row',
      run: async (api) => {
        const updateOne = { filter: { p: 'unset', c: 1 }, update: { $unset: { a: '' } } }
        await api.replies('rows', { updateOne }, changed)
        await api.finds('rows', { filter: { p: 'unset' } }, [])
      },
    },
    {
      id: 'tables-rows-06',
      section: '4.3',
      says: 'deleteOne deletes one row',
      run: async (api) => {
        await insert(api, { p: 'delete', c: 1 }, { p: 'delete', c: 2 })
        const deleteOne = { filter: { p: 'delete', c: 1 } }
        await api.replies('rows', { deleteOne }, deleted)
        await api.finds('rows', { filter: { p: 'delete' } }, [{ p: 'delete', c: 2 }])
      },
    },
    {
      id: 'tables-rows-07',
      section: '4.3',
      says: 'deleteOne takes $eq',
      run: async (api) => {
        await insert(api, { p: 'eq', c: 1 })
        const deleteOne = { filter: { p: { $eq: 'eq' }, c: { $eq: 1 } } }
        await api.replies('rows', { deleteOne }, deleted)
        await api.finds('rows', { filter: { p: 'eq' } }, [])
      },
    },
    ...restricted.flatMap(([says, filter, code], at): Statement[] => [
      {
        id: `tables-rows-${String(8 + at).padStart(2, '0')}`,
        section: '4.3',
        says: `deleteOne refuses ${says}`,
        run: (api) => api.refuses('rows', { deleteOne: { filter } }, `FILTER/${code}`),
      },
      {
        id: `tables-rows-${11 + at}`,
        section: '4.3',
        says: `updateOne refuses ${says}`,
        run: (api) =>
          api.refuses(
            'rows',
            { updateOne: { filter, update: { $set: { b: 'y' } } } },
            `FILTER/${code}`,
          ),
      },
    ]),
    {
      id: 'tables-rows-14',
      section: '1',
      says: 'the schema of a table is fixed: an unknown column is refused',
      run: (api) =>
        api.refuses(
          'rows',
          { insertOne: { document: { p: 'fixed', c: 1, other: 1 } } },
          'DOCUMENT/UNKNOWN_TABLE_COLUMNS',
        ),
    },
    {
      id: 'tables-rows-15',
      section: '1',
      says: 'a value that does not fit the type of its column is refused',
      run: (api) =>
        api.refuses(
          'rows',
          { insertOne: { document: { p: 'fixed', c: 1, a: 'one' } } },
          'DOCUMENT/INVALID_COLUMN_VALUES',
        ),
    },
    {
      id: 'tables-rows-16',
      section: '1',
      says: 'insertMany offers no time to live',
      run: (api) =>
        api.refuses(
          'rows',
          { insertMany: { documents: [{ p: 'ttl', c: 1 }], options: { ttl: 1 } } },
          '/COMMAND_FIELD_UNKNOWN',
        ),
    },
    {
      id: 'tables-rows-17',
      section: '1',
      says: 'updateOne offers no timestamp of a column',
      run: (api) =>
        api.refuses(
          'rows',
          {
            updateOne: {
              filter: { p: 'timestamp', c: 1 },
              update: { $set: { a: 1 } },
              options: { timestamp: 1 },
            },
          },
          '/COMMAND_FIELD_UNKNOWN',
        ),
    },
    ...unoffered.map((option, at): Statement => ({
      id: `tables-rows-${18 + at}`,
      section: '1',
      says: `find in a table does not offer the option ${option}`,
      run: (api) =>
        api.refuses(
          'rows',
          { find: { options: { [option]: 'ONE' } } },
          '/COMMAND_FIELD_UNKNOWN',
        ),
    })),
  ],
}
