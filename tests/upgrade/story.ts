/**
 * The requests that an earlier version executed. They create every kind of definition and value
 * once, and then read all of them. The file imports no module of Stela, so it is the same for all
 * versions.
 *
 * A request is a path and a command. A command with numbers that JavaScript would change is a text.
 * A path that starts with a name and a colon addresses the database with this name.
 */

export type Command = object | string
export type Request = readonly [path: string, command: Command]

export const databases = ['second', 'third'] as const
const home = '/default_keyspace'

/** Values of each scalar type in the form of requests, in ascending order. */
const samples: Readonly<Record<string, readonly string[]>> = {
  ascii: ['""', '"A"', '"a"', '"ab"', '"a\\u0000b"', '"b"'],
  bigint: [
    '-9223372036854775808',
    '-1',
    '0',
    '1',
    '9007199254740993',
    '9223372036854775807',
  ],
  blob: [
    '{"$binary":"AAAA"}',
    '{"$binary":"AAAAAA=="}',
    '{"$binary":"AP8="}',
    '{"$binary":"/w=="}',
  ],
  boolean: ['false', 'true'],
  date: ['"-0044-03-15"', '"1969-12-31"', '"1970-01-01"', '"2024-02-29"', '"+12024-01-01"'],
  decimal: [
    '-1e40',
    '-1.50',
    '0',
    '1.0000000000000000000001',
    '1.1',
    '12345678901234567890.5',
  ],
  double: [
    '"-Infinity"',
    '-1.5',
    '-0.0',
    '5e-324',
    '1',
    '16777217',
    '1e300',
    '"Infinity"',
    '"NaN"',
  ],
  float: ['"-Infinity"', '-2', '-0.0', '0.1', '1', '16777216', '"Infinity"', '"NaN"'],
  inet: ['"10.0.0.1"', '"127.0.0.1"', '"::1"', '"2001:db8::1"'],
  int: ['-2147483648', '-1', '0', '7', '2147483647'],
  smallint: ['-32768', '0', '32767'],
  text: ['""', '"A"', '"a"', '"a\\u0000b"', '"é"', '"\\ud83d\\ude00"', '"\\uffee"'],
  time: ['"00:00"', '"12:30:15.000000001"', '"12:30:15.5"', '"23:59:59.999999999"'],
  timestamp: [
    '"-0044-03-15T00:00:00Z"',
    '"1970-01-01T00:00:00.001Z"',
    '"2024-09-24T14:06:59+02:00"',
  ],
  tinyint: ['-128', '0', '127'],
  uuid: [
    '"00000000-0000-0000-0000-000000000000"',
    '"d2177dd0-eaa2-11de-a572-001b779c76e3"',
    '"123e4567-e89b-42d3-a456-426614174000"',
    '"01890a5d-ac96-774b-bcce-b302099a8057"',
  ],
  varint: [
    '-123456789012345678901234567890',
    '-1',
    '0',
    '1',
    '123456789012345678901234567890',
  ],
}
/**
 * Values that a key may have. The empty text is excluded, because a partition key cannot be empty.
 */
const keySamples = (type: string) => samples[type]!.filter((value) => value !== '""')
const durations = ['"1d24h"', '"P1Y3M10D"', '"-PT5S"', '"1h1ns"']
const primitives = Object.keys(samples)
const indexable = primitives.filter((type) => type !== 'blob')

/** The JSON of an object, from the JSON of its members. */
const object = (members: Readonly<Record<string, string>>) =>
  `{${Object.entries(members)
    .map(([name, text]) => `${JSON.stringify(name)}:${text}`)
    .join()}}`
const array = (texts: readonly string[]) => `[${texts.join()}]`
const insertMany = (documents: readonly string[]) =>
  `{"insertMany":{"documents":${array(documents)}}}`
const find = (filter: string, rest = '') => `{"find":{"filter":${filter}${rest}}}`

function collectionWrites(): Request[] {
  const create = (name: string, options: object = {}): Request => [
    home,
    { createCollection: { name, options } },
  ]
  const analyzer = {
    tokenizer: { name: 'standard', args: {} },
    charFilters: [{ name: 'htmlstrip' }],
    filters: [
      { name: 'lowercase' },
      { name: 'stop' },
      { name: 'porterstem' },
      { name: 'synonym', args: { synonyms: 'boat, ship' } },
    ],
  }
  const texts = Array.from({ length: 1100 }, (_, i) =>
    object({
      _id: String(i),
      n: String(i % 50),
      $vector: array([i % 7, i % 11, i % 13, 1 + (i % 3)].map((n) => String(n + 0.5))),
      $lexical: JSON.stringify(
        `ship number ${i % 97} ${i % 2 === 0 ? 'sails' : 'anchors'}`,
      ),
    }),
  )
  return [
    create('everything', {
      vector: { dimension: 3 },
      lexical: { enabled: true, analyzer: 'standard' },
    }),
    create('Everything'),
    create('bare', { lexical: { enabled: false }, rerank: { enabled: false } }),
    create('denied', { indexing: { deny: ['payload', 'meta.secret'] } }),
    create('allowed', { indexing: { allow: ['a', 'b.c'] } }),
    create('unindexed', { indexing: { deny: ['*'] } }),
    create('euclidean', { vector: { dimension: 3, metric: 'euclidean' } }),
    create('dot', { vector: { dimension: 3, sourceModel: 'openai-v3-small' } }),
    create('texts', { vector: { dimension: 4 }, lexical: { enabled: true, analyzer } }),
    create('french', { lexical: { enabled: true, analyzer: 'french' } }),
    create('vectorized', {
      vector: { service: { provider: 'local', modelName: 'all-MiniLM-L6-v2' } },
    }),
    ...['uuid', 'uuidv6', 'uuidv7', 'objectId'].map((type) =>
      create(`ids_${type.toLowerCase()}`, { defaultId: { type } }),
    ),
    create('dropped'),
    [`${home}/dropped`, { insertOne: { document: { _id: 'old', a: 1 } } }],
    [home, { deleteCollection: { name: 'dropped' } }],
    create('dropped', { vector: { dimension: 2 } }),
    [`${home}/dropped`, { insertOne: { document: { _id: 'new', $vector: [1, 0] } } }],
    [`${home}/everything`, insertMany(documents)],
    [
      `${home}/everything`,
      {
        updateOne: {
          filter: { _id: 'plain' },
          update: { $inc: { n: 0.2 }, $push: { tags: 'x' } },
        },
      },
    ],
    [`${home}/everything`, { deleteOne: { filter: { _id: 'gone' } } }],
    [`${home}/Everything`, { insertOne: { document: { _id: 'capital' } } }],
    [`${home}/bare`, insertMany(['{"_id":1,"a":1}', '{"_id":2,"a":{"b":[1,2]}}'])],
    [
      `${home}/denied`,
      insertMany([
        '{"_id":1,"payload":{"deep":1},"meta":{"secret":"s","open":"o"}}',
        '{"_id":2,"payload":"text","meta":{"open":"p"}}',
      ]),
    ],
    [
      `${home}/allowed`,
      insertMany(['{"_id":1,"a":1,"b":{"c":2,"d":3}}', '{"_id":2,"a":2,"x":1}']),
    ],
    [`${home}/unindexed`, insertMany(['{"_id":1,"a":1}', '{"_id":2,"a":2}'])],
    ...['euclidean', 'dot'].map((name): Request => [
      `${home}/${name}`,
      insertMany([
        '{"_id":1,"$vector":[1,0,0]}',
        '{"_id":2,"$vector":[0,0.5,0.25]}',
        '{"_id":3,"$vector":[0.1,0.2,0.3]}',
        '{"_id":4}',
      ]),
    ]),
    ...Array.from({ length: 11 }, (_, i): Request => [
      `${home}/texts`,
      insertMany(texts.slice(i * 100, i * 100 + 100)),
    ]),
    [`${home}/texts`, { deleteMany: { filter: { n: 49 } } }],
    [
      `${home}/texts`,
      { updateMany: { filter: { n: 48 }, update: { $set: { $lexical: 'a boat' } } } },
    ],
    [
      `${home}/french`,
      insertMany([
        '{"_id":1,"$lexical":"Les chevaux mangeaient l’herbe"}',
        '{"_id":2,"$lexical":"Un cheval mange"}',
      ]),
    ],
    [
      `${home}/vectorized`,
      insertMany([
        '{"_id":1,"$vectorize":"A guide leads two men"}',
        '{"_id":2,"$hybrid":"Visitors from space"}',
        '{"_id":3,"$vectorize":null}',
      ]),
    ],
    ...['uuid', 'uuidv6', 'uuidv7', 'objectid'].map((type): Request => [
      `${home}/ids_${type}`,
      insertMany(['{"a":1}', '{"a":2}', '{"_id":"given","a":3}']),
    ]),
  ]
}

/** Documents with every type of `_id` and every type of value. */
const documents: readonly string[] = [
  '{"_id":"plain","n":0.1,"tags":["a","b"],"home":{"city":"Oslo","zip":"0150"},"$vector":[1,0,0],"$lexical":"The quick brown fox"}',
  '{"_id":"gone","n":1}',
  '{"_id":7,"n":7,"$vector":[0.1,0.2,0.3],"$lexical":"quick quick foxes"}',
  '{"_id":-0.0,"n":-0.0,"$vector":[-0.0,1,1e-7]}',
  '{"_id":12345678901234567890,"n":12345678901234567890}',
  '{"_id":1.10,"n":1.10,"exact":0.10000000000000000000001}',
  '{"_id":true,"flag":true,"none":null}',
  '{"_id":null,"flag":false}',
  '{"_id":{"$date":1672531200000},"at":{"$date":-1}}',
  '{"_id":{"$uuid":"123e4567-e89b-42d3-a456-426614174000"},"u":{"$uuid":"01890a5d-ac96-774b-bcce-b302099a8057"}}',
  '{"_id":{"$objectId":"507f1f77bcf86cd799439011"},"o":{"$objectId":"507f191e810c19729de860ea"}}',
  '{"_id":"binary","bytes":{"$binary":"AAEC"},"$vector":{"$binary":"P4AAAD8AAAAAAAAA"}}',
  '{"_id":"nested","a":{"b":{"c":[{"d":1},{"d":[2,3]}]}},"empty":{},"nothing":[],"deep":[[1,[2]],[]]}',
  '{"_id":"names","10":"ten","2":"two","__proto__":{"x":1},"a.b":{"c&d":1},"é":"é"}',
  '{"_id":"surrogate","s":"\\ud800","t":"\\ud83d\\ude00"}',
  '{"_id":"texts","s":"A","t":"a","e":"","z":"a\\u0000b"}',
  '{"_id":"search","$vector":null,"$lexical":null}',
]

function tableWrites(): Request[] {
  const requests: Request[] = [
    [
      home,
      {
        createType: {
          name: 'point',
          definition: { fields: { x: 'double', y: 'float', label: 'text' } },
        },
      },
    ],
    [
      home,
      {
        createType: {
          name: 'address',
          definition: { fields: { street: 'text', number: 'int' } },
        },
      },
    ],
  ]
  const point = { type: 'userDefined', udtName: 'point' }
  const address = { type: 'userDefined', udtName: 'address' }

  // A column of every scalar type, and one of every composite type.
  const columns: Record<string, unknown> = { id: 'int', c_duration: 'duration' }
  for (const type of primitives) {
    columns[`c_${type}`] = type
    columns[`l_${type}`] = { type: 'list', valueType: type }
    columns[`s_${type}`] = { type: 'set', valueType: type }
    columns[`m_${type}`] = { type: 'map', keyType: type, valueType: type }
  }
  Object.assign(columns, {
    m_text: { type: 'map', keyType: 'text', valueType: 'int' },
    v: { type: 'vector', dimension: 3 },
    p: point,
    lp: { type: 'list', valueType: point },
    mp: { type: 'map', keyType: 'text', valueType: point },
    a: address,
    t: 'text',
    folded: 'text',
  })
  const definition = { columns, primaryKey: 'id' }
  requests.push([home, { createTable: { name: 'every', definition } }])
  const index = (name: string, column: unknown, options: object = {}): Request => [
    `${home}/every`,
    { createIndex: { name, definition: { column, options } } },
  ]
  for (const type of indexable) {
    requests.push(index(`on_${type}`, `c_${type}`))
    requests.push(index(`on_l_${type}`, `l_${type}`))
  }
  requests.push(
    index('on_s', 's_float'),
    index('on_m_keys', { m_double: '$keys' }),
    index('on_m_values', { m_double: '$values' }),
    index('on_m', 'm_double'),
    index('on_m_text', 'm_text'),
    index('on_folded', 'folded', { ascii: true, caseSensitive: false, normalize: true }),
    [
      `${home}/every`,
      {
        createTextIndex: {
          name: 'on_t',
          definition: { column: 't', options: { analyzer: 'english' } },
        },
      },
    ],
    [
      `${home}/every`,
      {
        createVectorIndex: {
          name: 'on_v',
          definition: { column: 'v', options: { metric: 'euclidean' } },
        },
      },
    ],
  )
  const rows = Array.from({ length: 10 }, (_, id) => {
    const row: Record<string, string> = { id: String(id) }
    row['c_duration'] = durations[id % durations.length]!
    for (const type of primitives) {
      const values = samples[type]!
      const value = values[id % values.length]!
      row[`c_${type}`] = value
      row[`l_${type}`] = array([value, values[0]!, value])
      row[`s_${type}`] = array([values.at(-1)!, value])
      if (type !== 'text') row[`m_${type}`] = array([`[${value},${values[0]!}]`])
    }
    row['m_text'] = `{"a":${id},"é":1}`
    row['v'] = array(['1', '-0.0', String(id / 10)])
    row['p'] = `{"x":${id},"y":-0.0,"label":"p${id}"}`
    row['lp'] = `[{"x":1,"y":2},{"label":"only"}]`
    row['mp'] = `{"k":{"x":${id}}}`
    row['a'] = `{"street":"s","number":${id}}`
    row['t'] = JSON.stringify(id % 2 === 0 ? 'running foxes' : 'a quick fox runs')
    row['folded'] = JSON.stringify(
      ['École', 'ecole', 'ÉCOLE', 'e\u0301cole', 'other'][id % 5],
    )
    return object(row)
  })
  requests.push(
    [`${home}/every`, insertMany(rows)],
    [`${home}/every`, insertMany(['{"id":100}', '{"id":101,"c_int":null,"c_double":1}'])],
    // Renames a field after rows with values of the type were written, and adds a field with the
    // old name.
    [
      home,
      {
        alterType: {
          name: 'address',
          rename: { fields: { street: 'road' } },
          add: { fields: { street: 'int' } },
        },
      },
    ],
    [home, { alterType: { name: 'point', add: { fields: { z: 'double' } } } }],
    [
      `${home}/every`,
      insertMany(['{"id":102,"a":{"road":"r","street":5},"p":{"z":1,"x":2}}']),
    ],
    [
      `${home}/every`,
      '{"updateOne":{"filter":{"id":1},"update":{"$set":{"c_float":3,"l_double":[1,-0.0],"p":{"x":9}},"$unset":{"c_text":""}}}}',
    ],
    [
      `${home}/every`,
      '{"updateOne":{"filter":{"id":200},"update":{"$set":{"c_double":2}}}}',
    ],
    [
      `${home}/every`,
      '{"updateOne":{"filter":{"id":201},"update":{"$set":{"c_double":2}}}}',
    ],
    [
      `${home}/every`,
      '{"updateOne":{"filter":{"id":201},"update":{"$unset":{"c_double":""}}}}',
    ],
    [`${home}/every`, { deleteOne: { filter: { id: 9 } } }],
  )

  // Tables with keys of every type: as a partition column, and as sort columns in ascending and
  // descending order.
  for (const type of primitives) {
    const definition = {
      columns: { k: type, up: type, down: type, v: 'int' },
      primaryKey: { partitionBy: ['k'], partitionSort: { up: 1, down: -1 } },
    }
    const name = `key_${type}`
    requests.push([home, { createTable: { name, definition } }])
    const values = keySamples(type)
    const pairs = values.flatMap((up, i) =>
      values.map((down, j) => object({ k: values[0]!, up, down, v: String(i * 10 + j) })),
    )
    const partitions = values.slice(1).map((k) => object({ k, up: k, down: k, v: '7' }))
    const rows = [...pairs, ...partitions]
    requests.push([`${home}/${name}`, insertMany(rows)])
  }
  const vector = { type: 'vector', dimension: 2 }
  requests.push(
    [
      home,
      {
        createTable: {
          name: 'key_vector',
          definition: {
            columns: { k: vector, up: vector, v: 'int', n: 'text' },
            primaryKey: { partitionBy: ['k'], partitionSort: { up: -1 } },
          },
        },
      },
    ],
    [
      `${home}/key_vector`,
      insertMany([
        '{"k":[1,2],"up":[0.0,1],"v":1}',
        '{"k":[1,2],"up":[-0.0,3],"v":2}',
        '{"k":[-0.0,3],"up":[1,1],"v":6}',
        '{"k":[1,2],"up":[-0.5,1],"v":3}',
        '{"k":[1,2],"up":[0.25,1],"v":4,"n":"four"}',
        '{"k":[0,2],"up":[1,1],"v":5}',
      ]),
    ],
    [
      home,
      {
        createTable: {
          name: 'wide',
          definition: {
            columns: {
              a: 'text',
              b: 'int',
              c: 'float',
              d: 'double',
              e: 'uuid',
              v: 'double',
            },
            primaryKey: { partitionBy: ['a', 'b'], partitionSort: { c: -1, d: 1, e: -1 } },
          },
        },
      },
    ],
    [
      `${home}/wide`,
      insertMany(
        Array.from({ length: 60 }, (_, i) =>
          object({
            a: JSON.stringify(i % 2 === 0 ? 'even' : 'odd'),
            b: String(i % 3),
            c: String((i % 5) - 2),
            d: String((i % 4) / 2),
            e: `"123e4567-e89b-42d3-a456-4266141740${String(i).padStart(2, '0')}"`,
            v: String(i),
          }),
        ),
      ),
    ],
    [`${home}/wide`, { createIndex: { name: 'wide_v', definition: { column: 'v' } } }],
    [`${home}/wide`, { createIndex: { name: 'wide_c', definition: { column: 'c' } } }],
  )

  // Drops columns and adds them again. Rows are written before, between and after these changes.
  const alter = (operation: object): Request => [
    `${home}/altered`,
    { alterTable: { operation } },
  ]
  requests.push(
    [
      home,
      {
        createTable: {
          name: 'altered',
          definition: {
            columns: {
              id: 'int',
              a: 'text',
              d: 'double',
              w: vector,
              l: { type: 'list', valueType: 'float' },
              p: point,
            },
            primaryKey: 'id',
          },
        },
      },
    ],
    [
      `${home}/altered`,
      { createVectorIndex: { name: 'altered_w', definition: { column: 'w' } } },
    ],
    [
      `${home}/altered`,
      { createIndex: { name: 'altered_d', definition: { column: 'd' } } },
    ],
    [
      `${home}/altered`,
      insertMany([
        '{"id":1,"a":"before","d":1,"w":[1,2],"l":[1],"p":{"x":1}}',
        '{"id":2,"d":5}',
      ]),
    ],
    [home, { dropIndex: { name: 'altered_w' } }],
    [home, { dropIndex: { name: 'altered_d' } }],
    alter({ drop: { columns: ['a', 'd', 'w', 'l', 'p'] } }),
    [`${home}/altered`, insertMany(['{"id":3}'])],
    alter({
      add: {
        columns: {
          a: 'text',
          d: 'double',
          w: vector,
          l: { type: 'list', valueType: 'float' },
        },
      },
    }),
    alter({
      add: {
        columns: {
          later: 'double',
          e: { type: 'map', keyType: 'double', valueType: 'double' },
        },
      },
    }),
    [
      `${home}/altered`,
      { createVectorIndex: { name: 'altered_w', definition: { column: 'w' } } },
    ],
    [
      `${home}/altered`,
      { createIndex: { name: 'altered_d', definition: { column: 'd' } } },
    ],
    [
      `${home}/altered`,
      insertMany([
        '{"id":4,"a":"after","d":2,"w":[0,1],"l":[3],"later":7,"e":[[1,2]]}',
        '{"id":2,"a":"again"}',
      ]),
    ],
  )
  return requests
}

/** Writes to a second keyspace and to two other databases. Some names exist in several of them. */
const otherWrites: readonly Request[] = [
  ['', { createKeyspace: { name: 'other' } }],
  ['/other', { createCollection: { name: 'notes' } }],
  ['/other/notes', { insertOne: { document: { _id: 1, of: 'home' } } }],
  ['second:', { createKeyspace: { name: 'other' } }],
  [
    'second:/other',
    { createCollection: { name: 'notes', options: { vector: { dimension: 2 } } } },
  ],
  [
    'second:/other/notes',
    { insertOne: { document: { _id: 1, of: 'second', $vector: [1, 1] } } },
  ],
  [
    'second:/default_keyspace',
    { createType: { name: 'point', definition: { fields: { x: 'double' } } } },
  ],
  [
    'second:/default_keyspace',
    {
      createTable: {
        name: 'points',
        definition: {
          columns: { id: 'double', p: { type: 'userDefined', udtName: 'point' } },
          primaryKey: 'id',
        },
      },
    },
  ],
  ['second:/default_keyspace/points', insertMany(['{"id":1,"p":{"x":2}}'])],
  ['third:/default_keyspace', { createCollection: { name: 'notes' } }],
  ['third:/default_keyspace/notes', { insertOne: { document: { _id: 1, of: 'third' } } }],
]

export const writes: readonly Request[] = [
  ...collectionWrites(),
  ...tableWrites(),
  ...otherWrites,
]

/** The last writes before the server is killed. */
export const lateWrites: readonly Request[] = [
  [`${home}/bare`, { insertOne: { document: { _id: 'late', a: 3 } } }],
  [
    `${home}/texts`,
    {
      insertOne: {
        document: { _id: 'late', $vector: [9, 9, 9, 9], $lexical: 'a late ship' },
      },
    },
  ],
  [
    `${home}/wide`,
    '{"updateOne":{"filter":{"a":"even","b":1,"c":2,"d":-0.0,"e":"123e4567-e89b-42d3-a456-426614174004"},"update":{"$set":{"v":1000}}}}',
  ],
  [
    `${home}/wide`,
    insertMany([
      '{"a":"late","b":0,"c":1,"d":-0.0,"e":"123e4567-e89b-42d3-a456-426614174000","v":5}',
    ]),
  ],
]

/** Collections whose documents get generated ids, so the ids differ in each run. */
export const generated = ['uuid', 'uuidv6', 'uuidv7', 'objectid'].map(
  (type) => `ids_${type}`,
)

const named = (name: string) => `${home}/${name}`

function collectionQuestions(): Request[] {
  const all = (name: string): Request => [named(name), find('{}', ',"projection":{"*":1}')]
  const ask = (name: string, filter: string, rest?: string): Request => [
    named(name),
    find(filter, rest),
  ]
  const everything = (filter: string, rest?: string) => ask('everything', filter, rest)
  return [
    ...[
      'everything',
      'Everything',
      'bare',
      'denied',
      'allowed',
      'unindexed',
      'euclidean',
    ].map(all),
    ...['dot', 'french', 'vectorized', 'dropped', ...generated].map(all),
    ...documents.map((text) => {
      const id = /^\{"_id":((?:\{[^}]*\}|"[^"]*"|[^,])*)/.exec(text)![1]!
      return everything(`{"_id":${id}}`)
    }),
    ...[
      '{"n":7}',
      '{"n":0}',
      '{"n":-0.0}',
      '{"n":{"$gt":1.1}}',
      '{"n":{"$lte":12345678901234567890}}',
      '{"exact":0.10000000000000000000001}',
      '{"tags":"x"}',
      '{"tags":{"$all":["a","x"]}}',
      '{"tags":{"$size":3}}',
      '{"home.city":"Oslo"}',
      '{"flag":{"$exists":true}}',
      '{"none":null}',
      '{"at":{"$lt":{"$date":0}}}',
      '{"u":{"$uuid":"01890a5d-ac96-774b-bcce-b302099a8057"}}',
      '{"o":{"$objectId":"507f191e810c19729de860ea"}}',
      '{"a.b.c.0.d":1}',
      '{"a.b.c.1.d":{"$eq":[2,3]}}',
      '{"deep":{"$eq":[[1,[2]],[]]}}',
      '{"empty":{}}',
      '{"nothing":{"$eq":[]}}',
      '{"10":"ten"}',
      '{"a&.b.c&&d":1}',
      '{"s":"\\ud800"}',
      '{"t":"\\ud83d\\ude00"}',
      '{"z":"a\\u0000b"}',
      '{"$or":[{"n":7},{"flag":true},{"s":"A"}]}',
      '{"$not":{"n":{"$exists":true}}}',
      '{"_id":{"$in":[7,null,"plain",{"$date":1672531200000}]}}',
    ].map((filter) => everything(filter)),
    ...['n', 's', '_id', 'home.city', 't'].flatMap((path) =>
      [1, -1].map((order) => everything('{}', `,"sort":{"${path}":${order}}`)),
    ),
    ...['[1,0,0]', '[0.1,0.2,0.3]'].flatMap((vector) =>
      ['everything', 'euclidean', 'dot'].map((name) =>
        ask(
          name,
          '{}',
          `,"sort":{"$vector":${vector}},"options":{"includeSimilarity":true}`,
        ),
      ),
    ),
    everything('{}', ',"sort":{"$lexical":"quick fox"}'),
    everything('{"$lexical":{"$match":"quick"}}'),
    ask('texts', '{"n":{"$lt":3}}'),
    ask('texts', '{}', ',"sort":{"n":-1,"_id":1},"projection":{"n":1}'),
    ask('texts', '{"$lexical":{"$match":"boat late"}}'),
    ask('texts', '{"$lexical":{"$match":"anchor 42"}}', ',"sort":{"_id":1}'),
    ask('texts', '{}', ',"sort":{"$lexical":"sailing 13"},"options":{"limit":8}'),
    ask(
      'texts',
      '{"n":7}',
      ',"sort":{"$vector":[1,2,3,1]},"options":{"limit":5,"includeSimilarity":true}',
    ),
    ask(
      'texts',
      '{}',
      ',"sort":{"$vector":[9,9,9,9]},"options":{"limit":1,"includeSimilarity":true}',
    ),
    ask('french', '{}', ',"sort":{"$lexical":"cheval"}'),
    ask(
      'vectorized',
      '{}',
      ',"sort":{"$vectorize":"aliens"},"options":{"includeSimilarity":true}',
    ),
    ask('denied', '{"meta.open":"o"}'),
    ask('denied', '{"payload.deep":1}'),
    ask('allowed', '{"b.c":2}'),
    ask('allowed', '{"x":1}'),
    ask('unindexed', '{"a":1}'),
    ...['everything', 'texts', 'bare'].flatMap((name): Request[] => [
      [named(name), { countDocuments: { filter: {} } }],
      [named(name), { estimatedDocumentCount: {} }],
    ]),
    [named('texts'), { countDocuments: { filter: { n: { $gte: 40 } } } }],
    [home, { findCollections: { options: { explain: true } } }],
    ['', { findKeyspaces: {} }],
  ]
}

function tableQuestions(): Request[] {
  const every = (filter: string, rest?: string): Request => [
    named('every'),
    find(filter, rest),
  ]
  const questions: Request[] = [every('{}')]
  for (const type of primitives) {
    for (const value of samples[type]!) {
      questions.push(every(`{"c_${type}":${value}}`, ',"projection":{"id":1}'))
      if (type !== 'blob')
        questions.push(every(`{"c_${type}":{"$gt":${value}}}`, ',"projection":{"id":1}'))
    }
    questions.push(
      every(`{"l_${type}":{"$in":[${samples[type]!.at(-1)!}]}}`, ',"projection":{"id":1}'),
    )
    const direction = type === 'text' ? -1 : 1
    questions.push(
      every('{}', `,"sort":{"c_${type}":${direction},"id":1},"projection":{"id":1}`),
    )

    const table = named(`key_${type}`)
    questions.push([table, find('{}')])
    for (const value of keySamples(type)) {
      const first = keySamples(type)[0]!
      questions.push([table, find(`{"k":${value}}`)])
      questions.push([table, find(`{"k":${first},"up":${value}}`)])
      questions.push([table, find(`{"k":${first},"up":${first},"down":${value}}`)])
      questions.push([table, find(`{"k":${first},"up":{"$gte":${value}}}`)])
      questions.push([table, find(`{"down":${value}}`)])
    }
  }
  questions.push(
    every('{"s_float":{"$in":[0]}}'),
    every('{"m_double":{"$keys":{"$in":[0.0,1]}}}', ',"projection":{"id":1}'),
    every('{"m_double":{"$values":{"$in":["-Infinity"]}}}', ',"projection":{"id":1}'),
    every(
      '{"m_double":{"$in":[[1,"-Infinity"],[-0.0,"-Infinity"]]}}',
      ',"projection":{"id":1}',
    ),
    every('{"m_text":{"$in":[["a",3]]}}', ',"projection":{"m_text":1}'),
    every('{"folded":"ECOLE"}', ',"projection":{"folded":1}'),
    every('{"t":{"$match":"run"}}', ',"projection":{"id":1}'),
    every('{}', ',"sort":{"t":"quick fox"},"projection":{"id":1}'),
    every(
      '{}',
      ',"sort":{"v":[1,0,0.25]},"options":{"includeSimilarity":true},"projection":{"v":1}',
    ),
    every('{"c_int":7}', ',"sort":{"v":[1,0,0]},"projection":{"v":1}'),
    every('{"id":{"$in":[1,3,200,201]}}'),
    [named('key_vector'), find('{}')],
    [named('key_vector'), find('{"k":[1,2]}')],
    [named('key_vector'), find('{"k":[1,2],"up":[0,1]}')],
    [named('key_vector'), find('{"k":[0,2],"up":[1,1]}')],
    [named('wide'), find('{}')],
    [named('wide'), find('{"a":"odd","b":1}')],
    [named('wide'), find('{"a":"odd","b":1,"c":{"$gt":-1}}')],
    [named('wide'), find('{"a":"odd","b":1,"c":0,"d":{"$lte":1}}')],
    [named('wide'), find('{"v":1000}')],
    [named('wide'), find('{"v":{"$gt":10,"$lte":20}}')],
    [named('wide'), find('{"c":-2}')],
    [named('wide'), find('{}', ',"sort":{"v":-1},"options":{"limit":20}')],
    [named('wide'), find('{"a":"even","b":1}', ',"sort":{"c":-1}')],
    [named('altered'), find('{}')],
    [named('altered'), find('{"d":2}')],
    [named('altered'), find('{"a":"again"}')],
    [named('altered'), find('{"id":1}', ',"projection":{"d":1,"l":1}')],
    [named('altered'), find('{}', ',"sort":{"w":[1,2]}')],
    [home, { listTables: { options: { explain: true } } }],
    [home, { listTypes: { options: { explain: true } } }],
    ...['every', 'wide', 'altered'].map((name): Request => [
      named(name),
      { listIndexes: { options: { explain: true } } },
    ]),
  )
  return questions
}

const otherQuestions: readonly Request[] = [
  ['/other/notes', find('{}')],
  ['second:', { findKeyspaces: {} }],
  ['third:', { findKeyspaces: {} }],
  [
    'second:/other/notes',
    find('{}', ',"sort":{"$vector":[1,1]},"options":{"includeSimilarity":true}'),
  ],
  ['second:/default_keyspace/points', find('{}')],
  ['second:/default_keyspace', { listTypes: { options: { explain: true } } }],
  ['third:/default_keyspace/notes', find('{}')],
]

export const questions: readonly Request[] = [
  ...collectionQuestions(),
  ...tableQuestions(),
  ...otherQuestions,
]

/** Changes that the current version makes after it has opened the data. */
export const changes: readonly Request[] = [
  [
    named('everything'),
    { updateMany: { filter: { n: { $exists: true } }, update: { $inc: { n: 1 } } } },
  ],
  [
    named('everything'),
    { updateOne: { filter: { _id: 0 }, update: { $set: { touched: true } } } },
  ],
  [named('everything'), { deleteOne: { filter: { _id: true } } }],
  [
    named('everything'),
    { findOneAndReplace: { filter: { _id: 'nested' }, replacement: { a: { b: 2 } } } },
  ],
  [
    named('everything'),
    {
      insertOne: {
        document: { _id: 'added', n: 7, $vector: [0, 1, 0], $lexical: 'a new fox' },
      },
    },
  ],
  [named('everything'), { insertOne: { document: { _id: 7, n: 'taken' } } }],
  [named('texts'), { deleteMany: { filter: { n: { $gte: 40 } } } }],
  [
    named('texts'),
    {
      updateMany: {
        filter: { n: 7 },
        update: { $set: { $lexical: 'sailing 13', $vector: [1, 1, 1, 1] } },
      },
    },
  ],
  [named('french'), { insertOne: { document: { _id: 3, $lexical: 'des chevaux' } } }],
  [
    named('denied'),
    { updateOne: { filter: { _id: 1 }, update: { $set: { 'meta.open': 'q' } } } },
  ],
  [named('vectorized'), { insertOne: { document: { _id: 4, $vectorize: 'A ship' } } }],
  [
    named('every'),
    '{"updateOne":{"filter":{"id":2},"update":{"$set":{"c_int":5,"v":[0,0,1]},"$push":{"l_float":4}}}}',
  ],
  [
    named('every'),
    '{"updateOne":{"filter":{"id":3},"update":{"$unset":{"p":"","m_double":""},"$pullAll":{"s_double":[1]}}}}',
  ],
  [
    named('every'),
    '{"updateOne":{"filter":{"id":200},"update":{"$unset":{"c_double":""}}}}',
  ],
  [named('every'), { deleteOne: { filter: { id: 5 } } }],
  [
    named('every'),
    insertMany([
      '{"id":6,"c_double":4,"a":{"road":"x"}}',
      '{"id":300,"p":{"x":1,"z":1},"t":"running"}',
    ]),
  ],
  ...primitives.flatMap((type): Request[] => {
    const [first, second] = keySamples(type) as [string, string]
    const key = (up: string, down: string) => `{"k":${first},"up":${up},"down":${down}}`
    const middle = samples[type]!.find((value) => value === '-0.0') ?? second
    const zero = middle === '-0.0' ? '0' : middle
    const table = named(`key_${type}`)
    return [
      [table, `{"updateOne":{"filter":${key(first, zero)},"update":{"$set":{"v":1000}}}}`],
      [table, `{"deleteOne":{"filter":${key(first, second)}}}`],
      [table, insertMany([`{"k":${first},"up":${first},"down":${first},"v":-1}`])],
    ]
  }),
  [
    named('key_vector'),
    '{"updateOne":{"filter":{"k":[1,2],"up":[-0.0,1]},"update":{"$set":{"v":100}}}}',
  ],
  [named('key_vector'), '{"deleteOne":{"filter":{"k":[1,2],"up":[0.25,1]}}}'],
  [
    named('key_vector'),
    '{"updateOne":{"filter":{"k":[1,2],"up":[0,3]},"update":{"$set":{"v":200}}}}',
  ],
  [named('key_vector'), '{"deleteOne":{"filter":{"k":[0,3],"up":[1,1]}}}'],
  [named('wide'), { deleteMany: { filter: { a: 'odd', b: 2 } } }],
  [
    named('wide'),
    '{"updateOne":{"filter":{"a":"late","b":0,"c":1,"d":0,"e":"123e4567-e89b-42d3-a456-426614174000"},"update":{"$set":{"v":6}}}}',
  ],
  [named('altered'), { alterTable: { operation: { drop: { columns: ['a', 'later'] } } } }],
  [
    named('altered'),
    {
      alterTable: {
        operation: { add: { columns: { a: 'double', later: 'text', p: 'double' } } },
      },
    },
  ],
  [
    named('altered'),
    insertMany(['{"id":1,"a":3,"later":"now"}', '{"id":5,"d":2,"w":[1,2],"a":1,"p":1}']),
  ],
  [
    home,
    {
      alterType: {
        name: 'point',
        rename: { fields: { x: 'ex' } },
        add: { fields: { x: 'text' } },
      },
    },
  ],
  [named('every'), insertMany(['{"id":301,"p":{"x":"text","ex":1}}'])],
  [
    named('every'),
    { createIndex: { name: 'on_s_double', definition: { column: 's_double' } } },
  ],
  [home, { dropIndex: { name: 'on_m_keys' } }],
  ['second:/other/notes', { insertOne: { document: { _id: 2, $vector: [0, 1] } } }],
  ['second:/default_keyspace', { createCollection: { name: 'fresh' } }],
  ['third:', { createKeyspace: { name: 'other' } }],
  ['/other', { deleteCollection: { name: 'notes' } }],
]
