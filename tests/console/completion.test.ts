/** Proposals and error marks of editors. Test inputs contain the cursor as |. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkClause } from '../../src/console/completion/check-clause.ts'
import type { Clause, ClauseContext } from '../../src/console/completion/clause-shape.ts'
import { completeClause } from '../../src/console/completion/complete-clause.ts'
import { fieldListOf, fieldsOf } from '../../src/console/completion/field-paths.ts'
import type { Place } from '../../src/console/api/place.ts'
import { noTable } from '../../src/console/api/place.ts'
import { readTree } from '../../src/console/json/json-tree.ts'
import { parseJson } from '../../src/console/json/parse-json.ts'
import type { JsonObject } from '../../src/console/json/value.ts'

const sample = [
  '{"_id": "a", "title": "Dune", "year": 1965, "by": {"name": "Frank", "born.in": "US"}, "lent": true}',
  '{"_id": "b", "title": "Ubik", "year": 1969, "by": {"name": "Philip"}, "tags": ["x"]}',
  '{"_id": 3, "title": null, "year": {"$date": 0}, "__proto__": {"a&b": 1}}',
].map((text) => parseJson(text) as JsonObject)

const collection: Place = {
  database: '',
  keyspace: 'default_keyspace',
  name: 'books',
  kind: 'collection',
  options: {
    vector: { dimension: 2, metric: 'cosine' },
    lexical: { enabled: true },
  },
  table: noTable,
}

const table: Place = {
  ...collection,
  kind: 'table',
  options: {},
  table: {
    columns: new Map([
      ['member', { type: 'text' }],
      ['days', { type: 'int' }],
      ['notes', { type: 'list', valueType: 'text' }],
    ]),
    partitionBy: ['member'],
    partitionSort: new Map(),
  },
}

function contextOf(clause: Clause, command = 'find', place = collection): ClauseContext {
  return { clause, command, list: fieldListOf(place, place === table ? [] : sample) }
}

/** Labels of the proposals, and the text after accepting the first proposal. */
function complete(clause: Clause, marked: string, command?: string, place?: Place) {
  const position = marked.indexOf('|')
  const text = marked.replace('|', '')
  const proposals = completeClause(contextOf(clause, command, place))(text, position)
  const [first] = proposals?.options ?? []
  const { from = 0, to = position } = proposals ?? {}
  return {
    labels: proposals?.options.map(({ label }) => label) ?? [],
    taken: first && text.slice(0, from) + (first.insert ?? first.label) + text.slice(to),
  }
}

function marks(clause: Clause, text: string, command?: string, place?: Place) {
  const found = checkClause(contextOf(clause, command, place))(text)
  return found.map(({ from, to, message }) => [text.slice(from, to), message] as const)
}

describe('fields of documents', () => {
  test('have paths, types and frequencies', () => {
    const fields = fieldsOf(sample)
    assert.deepEqual(
      fields.map(({ path, types, share }) => [path, types.join(), Math.round(share * 3)]),
      [
        ['__proto__', 'object', 1],
        ['__proto__.a&&b', 'number', 1],
        ['_id', 'string,number', 3],
        ['by', 'object', 2],
        ['by.born&.in', 'string', 1],
        ['by.name', 'string', 2],
        ['lent', 'boolean', 1],
        ['tags', 'array', 1],
        ['title', 'string,null', 3],
        ['year', 'number,date', 3],
      ],
    )
  })

  test('are at most 2000 fields', () => {
    const wide: JsonObject = new Map()
    for (let at = 0; at < 5000; at++) wide.set(`field${at}`, null)
    assert.equal(fieldsOf([wide]).length, 2000)
  })
})

describe('proposed completions', () => {
  test('are fields and logical operators at the start of a filter', () => {
    const { labels, taken } = complete('filter', '{|}')
    for (const label of ['_id', 'by.name', '$and', '$lexical', '$vector'])
      assert(labels.includes(label), label)
    assert(!labels.includes('$eq') && !labels.includes('$vectorize'))
    assert.equal(taken, '{"__proto__": }')
  })

  test('replace a partly typed word, with its quotes', () => {
    assert.equal(complete('filter', '{"ye|"}').taken, '{"year": }')
    assert.equal(complete('filter', '{"ye|": 3}').taken, '{"year": 3}')
    assert.equal(complete('filter', '{"ye|').taken, '{"year": ')
    assert.equal(complete('filter', '{"a": 1, na|}').taken, '{"a": 1, "by.name": }')
  })

  test('include operators and operands within a filter', () => {
    assert.deepEqual(complete('filter', '{"year": {"$g|"}}').labels, ['$gt', '$gte'])
    assert.equal(complete('filter', '{"year": {"$i|"}}').taken, '{"year": {"$in": []}}')
    assert.deepEqual(complete('filter', '{"title": {"$in": [|]}}').labels, [
      '"Dune"',
      '"Ubik"',
    ])
    assert.equal(
      complete('filter', '{"$or": [{"title": {"$eq": "U|"}}]}').taken,
      '{"$or": [{"title": {"$eq": "Ubik"}}]}',
    )
    assert.deepEqual(complete('filter', '{"lent": |}').labels.slice(0, 2), [
      'true',
      'false',
    ])
    assert(complete('filter', '{"$not": {"|"}}').labels.includes('year'))
    assert.deepEqual(complete('filter', '{"$lexical": {"|"}}').labels, ['$match'])
    assert.deepEqual(complete('filter', '{"tags": {"$size": 1} |}').labels, [])
  })

  test('are also available for sorts, projections, updates, documents and options', () => {
    assert.equal(complete('sort', '{"year|"}').taken, '{"year": 1}')
    assert.deepEqual(complete('sort', '{"year": |}').labels, ['1', '-1'])
    assert(complete('sort', '{|}').labels.includes('$lexical'))
    assert.deepEqual(complete('sort', '{|}', 'findAndRerank').labels, ['$hybrid'])
    assert(complete('projection', '{"|"}').labels.includes('*'))
    assert.equal(complete('update', '{"$in|"}').taken, '{"$inc": {}}')
    assert.equal(complete('update', '{"$inc": {"ye|"}}').taken, '{"$inc": {"year": }}')
    assert.deepEqual(complete('document', '{"by": {"n|"}}').labels, ['name', 'born.in'])
    assert(!complete('document', '{"title": 1, |}').labels.includes('title'))
    assert.deepEqual(complete('options', '{"lim|"}', 'find').labels, ['limit'])
    assert.deepEqual(complete('options', '{"upsert": |}', 'updateOne').labels, [
      'true',
      'false',
    ])
  })

  test('are columns when the target is a table', () => {
    assert.deepEqual(complete('filter', '{"|"}', 'find', table).labels, [
      ...['member', 'days', 'notes', '$and', '$or', '$not'],
    ])
    assert.deepEqual(complete('update', '{|}', 'updateOne', table).labels, [
      ...['$set', '$unset', '$push', '$pullAll'],
    ])
  })
})

describe('error marks', () => {
  test('are absent for input that the server accepts', () => {
    for (const [clause, text] of [
      ['filter', '{}'],
      [
        'filter',
        '{"a": {"b": 1}, "c": {"$date": 0}, "$or": [{"x": {"$in": [{"$uuid": ""}]}}]}',
      ],
      ['filter', '{"$lexical": {"$match": "x"}, "$vector": {"$exists": true}}'],
      ['filter', '{"$not": {"tags": {"$all": [1], "$size": 0}}, "a": {"$eq": {"$x": 1}}}'],
      ['sort', '{"a": 1, "b": -1}'],
      ['sort', '{"$vector": [1, 2]}'],
      ['projection', '{"a": 1, "b": {"$slice": [1, 2]}, "c": false, "d": {"e": 1}}'],
      [
        'update',
        '{"$set": {"a": {"$date": 0}}, "$push": {"b": {"$each": []}}, "$inc": {"n": 1}}',
      ],
      ['options', '{"limit": 5, "includeSimilarity": true}'],
      ['document', '{"a": {"$date": 5}, "$vector": [1]}'],
    ] as const)
      assert.deepEqual(marks(clause, text), [], text)
  })

  test('are at the place of the error', () => {
    for (const [clause, text, where, message] of [
      ['filter', '{"a": {"$near": 1}}', '"$near"', /not a filter operator/],
      ['filter', '{"$nor": []}', '"$nor"', /not a filter operator/],
      ['filter', '{"a": [1]}', '[1]', /\$eq/],
      ['filter', '{"$and": {"a": 1}}', '{"a": 1}', /array/],
      ['filter', '{"a": {"$in": 5}}', '5', /array/],
      ['filter', '{"$or": [{"a": {"$exists": 1}}]}', '1', /true or false/],
      ['sort', '{"a": "up"}', '"up"', /1/],
      ['sort', '{"$near": 1}', '"$near"', /cannot be used in a sort/],
      ['update', '{"set": {}}', '"set"', /not an update operator/],
      ['update', '{"$inc": {"n": "1"}}', '"1"', /number/],
      ['projection', '{"a": {"$first": 1}}', '"$first"', /not a projection/],
      ['options', '{"limits": 5}', '"limits"', /not an option of find/],
      ['filter', '[]', '[]', /object/],
    ] as const) {
      const [found, ...others] = marks(clause, text)
      assert.equal(found?.[0], where, text)
      assert.match(found[1], message)
      assert.deepEqual(others, [])
    }
    assert.equal(marks('filter', '{"day": 1}', 'find', table)[0]?.[0], '"day"')
    assert.equal(
      marks('update', '{"$inc": {"days": 1}}', 'updateOne', table)[0]?.[0],
      '"$inc"',
    )
  })

  test('are at the place where a text stops being JSON', () => {
    for (const [text, where] of [
      ['{"a": 1', '{'],
      ['{"a" 1}', '"a"'],
      ['{a: 1}', 'a'],
      ["{'a': 1}", "'a'"],
      ['{"a": 1,}', ','],
      ['{"a": 1 "b": 2}', '"'],
      ['[1, 2', '['],
      ['{"a": tru}', 'tru'],
      ['{"a": 01}', '01'],
      ['{"a": "x\\q"}', '\\'],
      ['{"a": 1, "a": 2}', '"a"'],
      ['{} {}', '{}'],
      ['{"a": }', '"a"'],
      ['{"a": "x', '"x'],
    ] as const) {
      const { mistakes } = readTree(text)
      const [first] = mistakes
      assert(first, text)
      assert.equal(text.slice(first.from, first.to), where, text)
    }
    assert.deepEqual(readTree('{"a": [1, -2.5e3, "é\\n", {"b": null}]}').mistakes, [])
    assert(readTree('['.repeat(100_000)).mistakes.length > 0)
  })
})
