import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseStored } from '../../src/json/parse.ts'
import { printJson } from '../../src/json/print.ts'
import { isObject, type JsonObject, type Value } from '../../src/json/value.ts'
import { indexingRule, type IndexingLists } from '../../src/language/filters/indexing.ts'
import { valueAt } from '../../src/language/values/value-at.ts'
import { escapeSegment, parsePath, type Path } from '../../src/language/values/path.ts'
import { seed } from './documents.ts'

function object(text: string): JsonObject {
  const value = parseStored(text)
  assert(isObject(value))
  return value
}

function path(text: string): Path {
  const read = parsePath(text)
  assert('segments' in read)
  return read
}

describe('an indexing rule', () => {
  const document =
    '{"_id":1,"a":{"b":1,"c":{"d":2}},"tags":["x","y"],"lines":[{"p":1,"q":2},[{"p":3}],5],' +
    '"when":{"$date":1},"x.y":7,"$vector":[1],"$vectorize":"t","$lexical":"l"}'

  const special = '"$vector":[1],"$vectorize":"t","$lexical":"l"'
  const cases: [IndexingLists, yes: string[], no: string[], pruned: string][] = [
    [
      { allow: ['a.b', 'tags', 'lines.p', 'when.z'] },
      [
        'a',
        'a.b',
        'a.b.z',
        'tags.0',
        'tags.0.z',
        'lines',
        'lines.0',
        'lines.0.p',
        'lines.1.0.p',
      ],
      ['_id', 'a.c', 'a.c.d', 'lines.q', 'lines.0.q', 'x&.y', 'x', 'other'],
      `{"_id":1,"a":{"b":1},"tags":["x","y"],"lines":[{"p":1},[{"p":3}],5],"when":{"$date":1},${special}}`,
    ],
    [
      { deny: ['a.b', 'tags', 'lines.p', 'when.$date', '$vector'] },
      [
        '_id',
        'a',
        'a.c',
        'a.c.d',
        'lines',
        'lines.0',
        'lines.0.q',
        'x&.y',
        'other',
        '$vector',
      ],
      ['a.b', 'a.b.z', 'tags', 'tags.0', 'lines.p', 'lines.0.p', 'lines.1.0.p'],
      `{"_id":1,"a":{"c":{"d":2}},"lines":[{"q":2},[{}],5],"when":{"$date":1},"x.y":7,${special}}`,
    ],
    [
      { allow: ['_id', 'x&.y', 'a', 'a.b'] },
      ['_id', 'x&.y', 'a.c.d', '$vector', '$vectorize', '$lexical'],
      ['x.y', 'tags'],
      `{"_id":1,"a":{"b":1,"c":{"d":2}},"x.y":7,${special}}`,
    ],
    [
      { deny: ['_id', 'a.c.d', 'a.c'] },
      ['a', 'a.b', '$vector'],
      ['_id', 'a.c', 'a.c.d'],
      document.replace(',"c":{"d":2}', ''),
    ],
    [{ deny: ['*'] }, [], ['_id', 'a', '$vector', '$lexical'], `{"_id":1,${special}}`],
    [{ allow: ['*'] }, ['_id', 'a.b', '$vector'], [], document],
    [{ allow: [] }, ['_id', 'a.b'], [], document],
    [{ deny: [] }, ['_id', 'a.b'], [], document],
  ]
  for (const [lists, yes, no, pruned] of cases)
    test(`with the lists ${JSON.stringify(lists)} covers and keeps exactly the expected paths`, () => {
      const rule = indexingRule(lists)
      for (const text of yes) assert(rule.covers(path(text)), `should cover ${text}`)
      for (const text of no) assert(!rule.covers(path(text)), `should not cover ${text}`)
      assert.equal(printJson(rule.prune(object(document))), pruned)
    })

  test('returns the document itself when everything is indexed', () => {
    const rule = indexingRule(undefined)
    const whole = object(document)
    assert(rule.all)
    assert.equal(rule.prune(whole), whole)
    assert(rule.covers(path('anything.at.all')))
  })

  test('does not modify the document', () => {
    const whole = object(document)
    indexingRule({ deny: ['a.b', 'lines.p'] }).prune(whole)
    assert.equal(printJson(whole), document)
  })

  test('reads a numeric segment as a position in an array or as a name', () => {
    const rule = indexingRule({ allow: ['a.0.x'] })
    assert(rule.covers(path('a.0.x')))
    assert(rule.covers(path('a.3.0.x')))
    assert(!rule.covers(path('a.0.y')))
    assert(!rule.covers(path('0')))
  })
})

describe('for any indexing options and document', () => {
  const name = fc.constantFrom('a', 'b', 'c.d')
  const value = fc.letrec<{ value: Value; object: JsonObject }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', maxDepth: 3 },
      fc.constantFrom<Value[]>(1, null, 'x', new Map([['$date', 1]])),
      tie('object'),
      fc.array(tie('value'), { maxLength: 2 }),
    ),
    object: fc
      .uniqueArray(fc.tuple(name, tie('value')), { selector: ([key]) => key, maxLength: 3 })
      .map((entries): JsonObject => new Map(entries)),
  })).object
  const listed = fc.uniqueArray(
    fc
      .array(name, { minLength: 1, maxLength: 3 })
      .map((segments) => segments.map(escapeSegment).join('.')),
    { minLength: 1, maxLength: 3 },
  )
  const lists = fc.oneof(
    listed.map((allow): IndexingLists => ({ allow })),
    listed.map((deny): IndexingLists => ({ deny })),
  )

  /** All paths of a document, including paths of fields inside arrays. */
  function* pathsOf(inner: Value, segments: readonly string[] = []): Iterable<Path> {
    if (segments.length > 0) yield { text: segments.map(escapeSegment).join('.'), segments }
    if (Array.isArray(inner))
      for (const [position, element] of inner.entries())
        yield* pathsOf(element, [...segments, String(position)])
    else if (isObject(inner) && !inner.has('$date'))
      for (const [key, field] of inner) yield* pathsOf(field, [...segments, key])
  }

  test('a path is in the pruned document exactly if it is covered', () => {
    fc.assert(
      fc.property(lists, value, (options, document) => {
        const rule = indexingRule(options)
        const pruned = rule.prune(document)
        for (const at of pathsOf(document))
          assert.equal(valueAt(pruned, at) !== undefined, rule.covers(at), at.text)
        for (const at of pathsOf(pruned))
          assert(valueAt(document, at) !== undefined, at.text)
      }),
      { seed, numRuns: 2000 },
    )
  })

  test('an _id and search fields are kept even if they are null', () => {
    const document = object('{"_id":null,"a":1,"$vector":null,"$lexical":null}')
    for (const options of [{ allow: ['b'] }, { deny: ['a'] }, { deny: ['*'] }])
      assert.equal(
        printJson(indexingRule(options).prune(document)),
        '{"_id":null,"$vector":null,"$lexical":null}',
      )
  })

  test('pruning is idempotent', () => {
    fc.assert(
      fc.property(lists, value, (options, document) => {
        const rule = indexingRule(options)
        const once = rule.prune(document)
        assert.equal(printJson(rule.prune(once)), printJson(once))
      }),
      { seed, numRuns: 2000 },
    )
  })
})
