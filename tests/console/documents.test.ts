/** Parts of the document pages, without a browser. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  addVectorizeFields,
  alterTypeFields,
  createCollectionFields,
  createIndexFields,
  createTableFields,
  emptyCollection,
  emptyColumn,
  emptyIndex,
  noService,
} from '../../src/console/browse/schema-forms.ts'
import { columnsBetween, layOut, listFields } from '../../src/console/data/columns.ts'
import { withCondition } from '../../src/console/data/conditions.ts'
import { idFilter, idKey } from '../../src/console/data/document-id.ts'
import {
  listLines,
  nothingOpened,
  toggleAt,
  toggleEverywhere,
  type Opened,
} from '../../src/console/data/document-lines.ts'
import { freshState, readView, writeView } from '../../src/console/data/kept-view.ts'
import { JsonError, parseJson } from '../../src/console/json/parse-json.ts'
import { printJson, printPretty } from '../../src/console/json/print-json.ts'
import { isCut, shortText } from '../../src/console/json/value-text.ts'
import { toPlain, writePath, type JsonObject } from '../../src/console/json/value.ts'
import { parseRoute, routeTo } from '../../src/console/navigation/route-hash.ts'
import {
  formatBytes,
  formatMany,
  formatMs,
  formatShortCount,
} from '../../src/console/kit/format.ts'
import { commandPath, noTable, type Place } from '../../src/console/api/place.ts'
import {
  addNamed,
  addToHistory,
  describeQuery,
  emptyQuery,
  readQueries,
  removeNamed,
  writeQueries,
} from '../../src/console/query/query-store.ts'

const collection: Place = {
  database: '',
  keyspace: 'library',
  name: 'books',
  kind: 'collection',
  options: {},
  table: noTable,
}

const table: Place = {
  ...collection,
  kind: 'table',
  table: {
    columns: new Map([
      ['member', { type: 'uuid' }],
      ['at', { type: 'timestamp' }],
      ['tags', { type: 'set', valueType: 'text' }],
      ['counts', { type: 'map', keyType: 'text', valueType: 'int' }],
      ['near', { type: 'vector', dimension: 2 }],
      ['days', { type: 'int' }],
    ]),
    partitionBy: ['member'],
    partitionSort: new Map([['at', -1]]),
  },
}

function object(text: string): JsonObject {
  return parseJson(text) as JsonObject
}

describe('JSON of the console', () => {
  test('is printed as it was parsed, digit for digit', () => {
    const texts = [
      '{"n":123456789012345678901234567890.10,"m":1.0,"e":-1E+400,"z":-0}',
      '{"__proto__":{"x":1},"10":1,"9":2,"constructor":null}',
      '["\\u0041\\n\\"\\\\", "\\ud800", "ż🙂", "", [], {}, true, false, null]',
    ]
    for (const text of texts) {
      const printed = printJson(parseJson(text))
      assert.deepEqual(JSON.parse(printed), JSON.parse(text))
      assert.equal(printJson(parseJson(printed)), printed)
      assert.equal(printJson(parseJson(printPretty(parseJson(text)))), printed)
    }
    assert.equal(printJson(parseJson(texts[0]!)), texts[0])
    assert.equal(printJson(parseJson(texts[1]!)), texts[1])
  })

  test('is rejected with the position of the error', () => {
    const cases: readonly (readonly [string, number])[] = [
      ['', 0],
      ['{', 1],
      ['{"a":1,}', 7],
      ['{"a" 1}', 5],
      ['{"a":1 "b":2}', 7],
      ['[1 2]', 3],
      ['"open', 0],
      ['{"a":1,"a":2}', 7],
      ['01', 1],
      ['nul', 0],
      ['1 2', 2],
      ['"a\nb"', 0],
      ['['.repeat(300), 201],
    ]
    for (const [text, at] of cases)
      assert.throws(
        () => parseJson(text),
        (error) => error instanceof JsonError && error.at === at,
        text.slice(0, 20),
      )
  })

  test('is formatted for reading', () => {
    const numbers = Array.from({ length: 40 }, (_, n) => n * 1000)
    const text = printPretty({ short: { a: 1 }, long: numbers, skip: undefined })
    assert.match(text, /^\{\n {2}"short": \{ "a": 1 \},\n {2}"long": \[\n {4}0, 1000, /)
    assert(text.split('\n').every((line) => line.length < 100))
    assert.deepEqual(JSON.parse(text), { short: { a: 1 }, long: numbers })
  })

  test('is shortened for table cells', () => {
    const short = (text: string) => shortText(parseJson(text))
    assert.equal(short('{"$date":0}'), '1970-01-01T00:00:00.000Z')
    assert.equal(short('{"$uuid":"0198f2c4-6a1b-7c3d-8e4f-5a6b7c8d9e0f"}').length, 36)
    assert.equal(short('{"$binary":"AQID"}'), '3 bytes')
    assert.equal(short('{"a":{"b":1},"c":[1,2]}'), '{ a: {1}, c: [2] }')
    assert.equal(short(JSON.stringify(Array(1024).fill(0.5))), '[ 1024 numbers ]')
    assert.equal(short('"two\\nlines"'), 'two lines')
    const long = 'x'.repeat(4_000_000)
    assert(shortText(long).length < 300)
    assert(isCut(long) && isCut('two\nlines') && !isCut('short'))
    assert.deepEqual(toPlain(parseJson('{"a":[1.5,null]}')), { a: [1.5, null] })
  })
})

describe('lines of the document view', () => {
  const documents = [object('{"_id":1,"a":{"b":[1,{"c":2}]}}'), object('{"_id":2,"a":{}}')]
  const lines = (opened: Opened, view: 'table' | 'json') =>
    listLines(documents, { view, opened, idOf: (row) => `id${row}` }).map((line) =>
      line.kind === 'document' ? `#${line.row}` : line.path.join('.'),
    )

  test('show values that are expanded in one document or in all documents', () => {
    assert.deepEqual(lines(nothingOpened, 'table'), ['#0', '#1'])
    assert.deepEqual(lines(nothingOpened, 'json'), ['#0', '_id', 'a', '#1', '_id', 'a'])
    let opened = toggleAt(nothingOpened, 'id0', ['a'])
    assert.deepEqual(lines(opened, 'table'), ['#0', 'a', 'a.b', '#1'])
    opened = toggleEverywhere(opened, ['a', 'b'])
    const all = ['#0', 'a', 'a.b', 'a.b.[0]', 'a.b.[1]', '#1']
    assert.deepEqual(lines(opened, 'table'), all)
    opened = toggleAt(opened, 'id0', ['a', 'b'])
    assert.deepEqual(lines(opened, 'table'), ['#0', 'a', 'a.b', '#1'])
    // Toggling a value in all documents removes the exceptions of single documents.
    opened = toggleEverywhere(toggleEverywhere(opened, ['a', 'b']), ['a', 'b'])
    assert.deepEqual(lines(opened, 'table'), all)
  })

  test('are computed for two hundred thousand elements without deep recursion', () => {
    const large = object(`{"_id":1,"list":[${'1,'.repeat(199_999)}1]}`)
    const opened = toggleAt(nothingOpened, 'x', ['list'])
    const found = listLines([large], { view: 'json', opened, idOf: () => 'x' })
    assert.equal(found.length, 200_003)
  })

  test('have columns, of which only visible ones are rendered', () => {
    const wide = object(
      JSON.stringify(
        Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`f${n}`, n])),
      ),
    )
    const names = listFields(collection, [wide])
    assert.equal(names[0], '_id')
    assert.equal(names.length, 2001)
    const columns = layOut(names, [wide], new Map([['f1', 500]]), new Map(), 60)
    assert.equal(columns[2]!.width, 500)
    assert(columnsBetween(columns, 0, 1200).length < 20)
    assert.deepEqual(listFields(table, []), [...table.table.columns.keys()])
  })
})

describe('a document', () => {
  test('is identified by its _id, and a row is identified by its key', () => {
    const document = object('{"_id":{"$uuid":"x"},"a":1}')
    assert.equal(printJson(idFilter(collection, document)), '{"_id":{"$uuid":"x"}}')
    assert.equal(idKey(collection, object('{"a":1}'), 3), '#3')
    const row = object('{"days":1,"at":"2026-01-01T00:00:00Z","member":"m"}')
    assert.equal(
      printJson(idFilter(table, row)),
      '{"member":"m","at":"2026-01-01T00:00:00Z"}',
    )
  })

  test('provides a filter on each value that the API can compare', () => {
    const filterBy = (
      place: Place,
      path: readonly string[],
      text: string,
      isWanted = true,
    ) =>
      printJson(
        withCondition(place, new Map(), path, parseJson(text), isWanted) ?? 'impossible',
      )
    assert.equal(filterBy(collection, ['a.b', 'c'], '1.0'), '{"a&.b.c":1.0}')
    assert.equal(filterBy(collection, ['a'], '1', false), '{"a":{"$ne":1}}')
    assert.equal(filterBy(collection, ['a'], '{"b":1}'), '{"a":{"$eq":{"b":1}}}')
    assert.equal(filterBy(collection, ['a'], '{"$date":1}'), '{"a":{"$date":1}}')
    assert.equal(filterBy(collection, ['tags', '[3]'], '"x"'), '{"tags":"x"}')
    assert.equal(filterBy(collection, ['list', '[3]', 'x'], '1'), '"impossible"')
    assert.equal(filterBy(collection, ['$vector'], '[1]'), '"impossible"')
    assert.equal(filterBy(table, ['days'], '3'), '{"days":3}')
    assert.equal(filterBy(table, ['tags'], '["a"]'), '{"tags":{"$in":["a"]}}')
    assert.equal(filterBy(table, ['tags', '[0]'], '"a"'), '{"tags":{"$in":["a"]}}')
    assert.equal(filterBy(table, ['counts'], '{"k":1}'), '{"counts":{"$in":[["k",1]]}}')
    assert.equal(
      filterBy(table, ['counts', 'k'], '1', false),
      '{"counts":{"$nin":[["k",1]]}}',
    )
    assert.equal(filterBy(table, ['near'], '[1,2]'), '"impossible"')
    const second = withCondition(
      collection,
      object('{"a":1,"$and":[{"b":2}]}'),
      ['a'],
      null,
      true,
    )
    assert.equal(printJson(second), '{"a":1,"$and":[{"b":2},{"a":null}]}')
  })

  test('has escaped paths for its fields, and a URL path for its commands', () => {
    assert.equal(writePath(['a&b', 'c.d', '0']), 'a&&b.c&.d.0')
    assert.equal(commandPath(collection), 'v1/library/books')
    assert.equal(commandPath({ database: 'id' }), 'databases/id/v1')
  })
})

describe('texts of the console', () => {
  test('in the URL fragment name a database, keyspace, collection or page, and are parsed back', () => {
    const hash = routeTo('', 'library', 'odd/name%20?#', 'data')
    assert.equal(hash, '#/db/home/library/odd%2Fname%2520%3F%23/data')
    const { kind, database, keyspace, name, tab } = parseRoute(hash)
    assert.deepEqual(
      [kind, database, keyspace, name, tab],
      ['place', '', 'library', 'odd/name%20?#', 'data'],
    )
    assert.equal(parseRoute('').kind, 'start')
    assert.equal(parseRoute('#/db/an-id').database, 'an-id')
    assert.equal(parseRoute('#/db/an-id/k').kind, 'keyspace')
    assert.equal(parseRoute('#/operate').page, 'operate')
    assert.equal(parseRoute('#/db/%E0%A4%A/k').database, '%E0%A4%A')
  })

  test('for numbers have few digits and a unit', () => {
    assert.deepEqual([0, 999, 1000, 1234, 99_949, 1e6, 12e9].map(formatShortCount), [
      ...['0', '999', '1 k', '1.2 k', '100 k', '1 M', '12 G'],
    ])
    assert.deepEqual([0, 999, 1000, 57_344, 999_600, 5e12].map(formatBytes), [
      ...['0 B', '999 B', '1.0 kB', '57 kB', '1.0 MB', '5.0 TB'],
    ])
    assert.deepEqual([0.123, 5.04, 99.6, 12_345].map(formatMs), [
      ...['0.12 ms', '5.0 ms', '100 ms', '12.3 s'],
    ])
    assert.equal(formatMany(1, 'document'), '1 document')
    assert.equal(formatMany(2000, 'document'), '2,000 documents')
  })
})

describe('forms', () => {
  test('produce createCollection without options that have their default', () => {
    assert.equal(
      printJson(createCollectionFields({ ...emptyCollection, name: 'x' })),
      '{"name":"x"}',
    )
    const all = createCollectionFields({
      ...emptyCollection,
      name: 'x',
      defaultId: 'uuidv7',
      vector: 'service',
      dimension: '512',
      metric: 'cosine',
      sourceModel: 'other',
      service: {
        provider: 'openai',
        modelName: 'text-embedding-3-small',
        parameters: { projectId: 'p', organizationId: '', autoTruncate: false },
        providerKey: 'team',
      },
      indexing: 'deny',
      paths: 'payload\n a.b ,',
      lexical: 'on',
      analyzer: '{"tokenizer":{"name":"standard"}}',
      rerank: 'off',
    })
    assert.deepEqual(JSON.parse(printJson(all)), {
      name: 'x',
      options: {
        defaultId: { type: 'uuidv7' },
        vector: {
          dimension: 512,
          metric: 'cosine',
          sourceModel: 'other',
          service: {
            provider: 'openai',
            modelName: 'text-embedding-3-small',
            parameters: { projectId: 'p', autoTruncate: false },
            authentication: { providerKey: 'team' },
          },
        },
        indexing: { deny: ['payload', 'a.b'] },
        lexical: { enabled: true, analyzer: { tokenizer: { name: 'standard' } } },
        rerank: { enabled: false },
      },
    })
  })

  test('produce createTable and its indexes', () => {
    const id = { ...emptyColumn(0), name: 'id', type: 'uuid', key: 'partition' } as const
    const fields = createTableFields({ name: 't', columns: [id], ifNotExists: true })
    assert.equal(
      printJson(fields),
      '{"name":"t","definition":{"columns":{"id":"uuid"},"primaryKey":"id"},"options":{"ifNotExists":true}}',
    )
    const columns = [
      id,
      { ...emptyColumn(1), name: 'at', type: 'timestamp', key: 'descending' },
      {
        ...emptyColumn(2),
        name: 'm',
        type: 'map',
        keyType: 'text',
        valueType: 'type:address',
      },
      { ...emptyColumn(3), name: 'v', type: 'vector', dimension: '3' },
      { ...emptyColumn(4), name: '__proto__', type: 'userDefined', udtName: 'address' },
    ] as const
    const own = '{"type":"userDefined","udtName":"address"}'
    assert.equal(
      printJson(createTableFields({ name: 't', columns, ifNotExists: false })),
      `{"name":"t","definition":{"columns":{"id":"uuid","at":"timestamp","m":{"type":"map","keyType":"text","valueType":${own}},` +
        `"v":{"type":"vector","dimension":3},"__proto__":${own}},` +
        '"primaryKey":{"partitionBy":["id"],"partitionSort":{"at":-1}}}}',
    )
    const index = {
      ...emptyIndex,
      name: 'i',
      column: 'm',
      part: '$keys',
      ascii: true,
    } as const
    assert.equal(
      printJson(createIndexFields(index)),
      '{"name":"i","definition":{"column":{"m":"$keys"},"options":{"ascii":true}}}',
    )
  })

  test('produce alterType and alterTable', () => {
    const added = [{ ...emptyColumn(0), name: 'zip', type: 'int' }] as const
    const renamed = new Map([['__proto__', 'city']])
    assert.equal(
      printJson(alterTypeFields('address', renamed, added)),
      '{"name":"address","rename":{"fields":{"__proto__":"city"}},"add":{"fields":{"zip":"int"}}}',
    )
    assert.equal(
      printJson(alterTypeFields('address', new Map(), added)),
      '{"name":"address","add":{"fields":{"zip":"int"}}}',
    )
    const service = { ...noService, provider: 'openai', modelName: 'm' }
    assert.equal(
      printJson(addVectorizeFields('near', service)),
      '{"operation":{"addVectorize":{"columns":{"near":{"provider":"openai","modelName":"m"}}}}}',
    )
  })
})

describe('a stored view', () => {
  const storageOf = (kept: Map<string, string>) => ({
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
    key: (at: number) => [...kept.keys()][at] ?? null,
    get length() {
      return kept.size
    },
  })

  test('is restored if the stored text is valid JSON', () => {
    const storage = storageOf(new Map())
    assert.deepEqual(readView(storage, collection), freshState)
    const state = {
      view: 'json',
      pageSize: 100,
      widths: new Map([['__proto__', 300]]),
      hidden: new Set(['secret']),
      opened: toggleAt(toggleEverywhere(nothingOpened, ['a', 'b']), '{"_id":1}', ['c']),
    } as const
    writeView(storage, collection, state, 1)
    assert.deepEqual(readView(storage, collection), state)
    assert.deepEqual(readView({ ...storage, getItem: () => '[' }, collection), freshState)
  })

  test('has limits for its lists and its length, and for the number of collections', () => {
    const kept = new Map([['other', 'x']])
    const storage = storageOf(kept)
    const many = Array.from({ length: 500 }, (_, n) => `column ${n}`)
    const hidden = new Set(many)
    writeView(storage, collection, { ...freshState, hidden }, 1)
    assert.deepEqual([...readView(storage, collection).hidden], many.slice(300))
    const longIds = new Set(many.map((name) => name + 'x'.repeat(8000)))
    const opened = { everywhere: new Set(['a']), differing: longIds }
    writeView(storage, collection, { ...freshState, hidden, opened }, 2)
    const { opened: left, hidden: still } = readView(storage, collection)
    assert.deepEqual([left.everywhere.size, left.differing.size, still.size], [1, 0, 200])
    writeView(storage, collection, { ...freshState, pageSize: 40, hidden: longIds }, 3)
    assert.deepEqual(readView(storage, collection), { ...freshState, pageSize: 40 })
    for (let n = 0; n < 120; n++)
      writeView(storage, { ...collection, name: `c${n}` }, freshState, 10 + n)
    assert.equal(kept.size, 101)
    assert.equal(readView(storage, collection).pageSize, 20)
    assert(kept.has('other'))
  })
})

describe('stored queries', () => {
  test('are the latest queries, each of them once, and all named queries', () => {
    const kept = new Map<string, string>()
    const storage = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
    }
    let queries = readQueries(storage, collection)
    for (let n = 0; n < 60; n++)
      queries = addToHistory(queries, { ...emptyQuery, filter: `{"n":${n % 55}}` }, n)
    assert.equal(queries.history.length, 50)
    assert.equal(queries.history[0]!.query.filter, '{"n":4}')
    const long = { ...emptyQuery, sort: `{"$vector":[${'0.1,'.repeat(6000)}1]}` }
    assert.equal(addToHistory(queries, long, 61), queries)
    queries = addNamed(addNamed(queries, 'b', emptyQuery), 'a', emptyQuery)
    queries = addNamed(queries, 'b', { ...emptyQuery, sort: '{"x": 1}' })
    writeQueries(storage, collection, queries)
    const again = readQueries(storage, collection)
    assert.deepEqual(again, queries)
    assert.deepEqual(
      again.named.map(({ name, query }) => [name, describeQuery(query)]),
      [
        ['a', 'all'],
        ['b', 'all, sort {"x": 1}'],
      ],
    )
    assert.equal(removeNamed(again, 'a').named.length, 1)
    assert.deepEqual(readQueries(storage, table), again)
    assert.deepEqual(readQueries({ ...storage, getItem: () => '{' }, collection).named, [])
  })
})
