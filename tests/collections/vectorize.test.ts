/** Embedding of texts: which texts are embedded, with how many requests, and what is stored. */
import { deleteDocument } from '../../src/collections/change-documents.ts'
import { insertDocuments } from '../../src/collections/insert.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { keepEmbedding } from '../../src/collections/vectorize.ts'
import { Fixture, tester } from './fixture.ts'
import { atOnce } from '../../src/runtime/steps.ts'
import { object } from './json.ts'
import { wordVectors } from './word-models.ts'

function withService(): Fixture {
  return new Fixture({}, wordVectors)
}

const broken = { code: 'INVALID_DATABASE_QUERY', message: /no words left/ }

describe('inserting $vectorize', () => {
  test('stores the text and its vector', async () => {
    const fixture = withService()
    await fixture.insert({ _id: 1, $vectorize: 'red red blue' })
    assert.deepEqual(await fixture.all(), [
      '{"_id":1,"$vector":[2,0,1],"$vectorize":"red red blue"}',
    ])
  })

  test('sends the texts of all documents of a command in one request', async () => {
    const fixture = withService()
    await fixture.insert(
      { _id: 1, $vectorize: 'red' },
      { _id: 2 },
      { _id: 3, $vector: [1, 2, 3] },
      { _id: 4, $hybrid: 'green' },
      { _id: 5, $vectorize: 'blue' },
    )
    assert.deepEqual(fixture.models.taken(), [['index', 'red', 'green', 'blue']])
    assert.deepEqual(await fixture.all(), [
      '{"_id":1,"$vector":[1,0,0],"$vectorize":"red"}',
      '{"_id":2}',
      '{"_id":3,"$vector":[1,2,3]}',
      '{"_id":4,"$vector":[0,1,0],"$vectorize":"green","$lexical":"green"}',
      '{"_id":5,"$vector":[0,0,1],"$vectorize":"blue"}',
    ])
  })

  test('sends no request when the text is null or blank', async () => {
    const fixture = withService()
    await fixture.insert({ _id: 1, $vectorize: null }, { _id: 2, $vectorize: ' \n' })
    assert.deepEqual(fixture.models.taken(), [])
    assert.deepEqual(await fixture.all(), [
      '{"_id":1,"$vector":null,"$vectorize":null}',
      '{"_id":2,"$vector":null,"$vectorize":" \\n"}',
    ])
  })

  test('inserts nothing when the provider fails, ordered or not', async () => {
    for (const ordered of [true, false]) {
      const fixture = withService()
      fixture.models.broken = true
      const documents = [{ _id: 1 }, { _id: 2, $vectorize: 'red' }, { _id: 3 }]
      await assert.rejects(fixture.tryToInsert(documents, ordered), broken)
      assert.deepEqual(await fixture.all(), [])
    }
  })

  test('makes the whole command fail before any request to the provider when a value is invalid', async () => {
    const cases: readonly (readonly [object, string])[] = [
      [{ $vectorize: 5 }, 'INVALID_VECTORIZE_VALUE_TYPE'],
      [{ $vectorize: ['red'] }, 'INVALID_VECTORIZE_VALUE_TYPE'],
      [{ $vectorize: 'red', $vector: [1, 2, 3] }, 'INVALID_USAGE_OF_VECTORIZE'],
      [{ $vectorize: 'red', $vector: null }, 'INVALID_USAGE_OF_VECTORIZE'],
      [{ $vectorize: null, $vector: null }, 'INVALID_USAGE_OF_VECTORIZE'],
    ]
    for (const [document, code] of cases) {
      const fixture = withService()
      const documents = [{ _id: 1, $vectorize: 'red' }, document]
      await assert.rejects(fixture.tryToInsert(documents, false), { code })
      assert.deepEqual(fixture.models.taken(), [])
      assert.deepEqual(await fixture.all(), [])
    }
  })

  test('requires a service only if there is a text', async () => {
    const fixture = new Fixture()
    await fixture.insert({ _id: 1, $vectorize: null }, { _id: 2, $vectorize: '' })
    await assert.rejects(fixture.tryToInsert([{ $vectorize: 'red' }]), {
      code: 'EMBEDDING_SERVICE_NOT_CONFIGURED',
      message: /library\.books/,
    })
  })

  test('fails only the documents whose vectors the collection cannot store', async () => {
    const fixture = withService()
    const [zero, red] = await fixture.tryToInsert(
      [
        { _id: 1, $vectorize: 'mauve' },
        { _id: 2, $vectorize: 'red' },
      ],
      false,
    )
    assert(typeof zero!.outcome === 'object')
    assert.equal(zero!.outcome.code, 'SHRED_BAD_VECTOR_VALUE')
    assert.match(zero!.outcome.message, /computed from \$vectorize.*cosine/)
    assert.equal(red!.outcome, 'done')
  })

  test('passes the keys of the request to the provider', async () => {
    const fixture = withService()
    const credentials = { embeddingKey: 'secret' }
    const documents = fixture.documents.as({ credentials })
    await insertDocuments(documents, [object({ $vectorize: 'red' })], true, tester)
    const [request] = fixture.models.requests
    assert.deepEqual(request!.credentials, credentials)
    assert.deepEqual(request!.service, wordVectors.vector.service)
    assert.equal(request!.dimension, 3)
  })
})

describe('updating $vectorize', () => {
  async function withDocument(document: object = { a: 1, $vectorize: 'red' }) {
    const fixture = withService()
    await fixture.insert({ _id: 1, ...document })
    fixture.models.taken()
    return fixture
  }

  test('embeds the text only if it changed', async () => {
    for (const filter of [{ _id: 1 }, { a: 1 }]) {
      const fixture = await withDocument()
      const { changedCount } = await fixture.update(
        { filter },
        { $set: { $vectorize: 'red' } },
      )
      assert.equal(changedCount, 0)
      await fixture.update({ filter }, { $set: { $vectorize: 'red', a: 1, b: 2 } })
      assert.deepEqual(fixture.models.taken(), [])
      await fixture.update({ filter }, { $set: { $vectorize: 'blue' } })
      assert.deepEqual(fixture.models.taken(), [['index', 'blue']])
      assert.deepEqual(await fixture.all(), [
        '{"_id":1,"a":1,"b":2,"$vector":[0,0,1],"$vectorize":"blue"}',
      ])
    }
  })

  test('embeds nothing when other fields change', async () => {
    const fixture = await withDocument()
    await fixture.update({}, { $inc: { a: 1 } })
    await fixture.update({}, { $set: { $lexical: 'green' } })
    assert.deepEqual(fixture.models.taken(), [])
    assert.deepEqual(await fixture.all(), [
      '{"_id":1,"a":2,"$vector":[1,0,0],"$vectorize":"red","$lexical":"green"}',
    ])
  })

  test('to null or blank removes the vector without a request', async () => {
    for (const text of [null, '', '  ']) {
      const fixture = await withDocument()
      await fixture.update({}, { $set: { $vectorize: text } })
      assert.deepEqual(fixture.models.taken(), [])
      assert.deepEqual(await fixture.all(), [
        `{"_id":1,"a":1,"$vector":null,"$vectorize":${JSON.stringify(text)}}`,
      ])
    }
  })

  test('removes the text when $vector is set, and both fields when one of them is unset', async () => {
    const set = await withDocument()
    await set.update({}, { $set: { $vector: [1, 2, 3] } })
    assert.deepEqual(await set.all(), ['{"_id":1,"a":1,"$vector":[1,2,3]}'])
    for (const name of ['$vector', '$vectorize']) {
      const unset = await withDocument()
      await unset.update({}, { $unset: { [name]: '' } })
      assert.deepEqual(await unset.all(), ['{"_id":1,"a":1}'])
    }
  })

  test('adds a text to a document that had only a vector', async () => {
    const fixture = await withDocument({ $vector: [1, 2, 3] })
    await fixture.update({}, { $set: { $vectorize: 'green' } })
    assert.deepEqual(await fixture.all(), [
      '{"_id":1,"$vector":[0,1,0],"$vectorize":"green"}',
    ])
  })

  test('rejects values other than texts, and $vector in the same update', async () => {
    const fixture = await withDocument()
    const refuse = (update: object, code: string) =>
      assert.rejects(async () => fixture.update({}, update), { code })
    await refuse({ $set: { $vectorize: 5 } }, 'INVALID_VECTORIZE_VALUE_TYPE')
    await refuse(
      { $set: { $vectorize: 'red', $vector: [1, 2, 3] } },
      'INVALID_USAGE_OF_VECTORIZE',
    )
    await refuse({ $unset: { $vectorize: '', $vector: '' } }, 'INVALID_USAGE_OF_VECTORIZE')
    await refuse(
      { $push: { $vectorize: 'x' } },
      'UNSUPPORTED_UPDATE_OPERATOR_FOR_VECTORIZE',
    )
    assert.deepEqual(fixture.models.taken(), [])
  })

  test('writes nothing when the provider fails', async () => {
    const fixture = await withDocument()
    await fixture.insert({ _id: 2, $vectorize: 'blue' })
    const before = await fixture.all()
    fixture.models.broken = true
    const update = { $set: { $vectorize: 'blue', b: 1 } }
    await assert.rejects(fixture.update({ filter: { _id: 1 } }, update), broken)
    await assert.rejects(fixture.update({ filter: { a: 1 } }, update), broken)
    // The second document already has this text, so only the first one needs an embedding.
    await assert.rejects(fixture.updateMany({}, update), broken)
    await assert.rejects(
      fixture.update({ filter: { _id: 3 } }, update, { upsert: true }),
      broken,
    )
    assert.deepEqual(await fixture.all(), before)
  })

  test('sends one request for an update of many documents', async () => {
    const fixture = withService()
    await fixture.insert(
      ...['red', 'green', 'red', 'blue'].map(($vectorize, _id) => ({ _id, $vectorize })),
    )
    fixture.models.taken()
    const changed = await fixture.updateMany({}, { $set: { $vectorize: 'green' } })
    assert.deepEqual([changed.matchedCount, changed.changedCount], [4, 3])
    assert.deepEqual(fixture.models.taken(), [['index', 'green']])
    for (const text of await fixture.all())
      assert.match(text, /"\$vector":\[0,1,0\],"\$vectorize":"green"/)
  })

  test('sends one request even when other requests keep changing the document', async () => {
    const fixture = await withDocument()
    let others = 2
    fixture.engine.meanwhile = () => {
      if (others-- > 0) fixture.engine.touch()
    }
    await fixture.update({}, { $set: { $vectorize: 'blue' } })
    assert.deepEqual(fixture.models.taken(), [['index', 'blue']])
  })

  test('does not lock the document during a request to the provider', async () => {
    for (const filter of [{ _id: 1 }, { a: 1 }]) {
      const fixture = await withDocument()
      // If the outer update locked the document, this update would deadlock.
      fixture.models.meanwhile = async () => {
        await fixture.update({ filter: { _id: 1 } }, { $set: { b: 'meanwhile' } })
      }
      await fixture.update({ filter }, { $set: { $vectorize: 'blue' } })
      assert.deepEqual(await fixture.all(), [
        '{"_id":1,"a":1,"b":"meanwhile","$vector":[0,0,1],"$vectorize":"blue"}',
      ])
    }
  })

  test('in an upsert sends one request, for the inserted document', async () => {
    const fixture = withService()
    const run = (_id: number, update: object) =>
      fixture.update({ filter: { _id } }, update, { upsert: true })
    await run(1, { $set: { $vectorize: 'red' } })
    await run(2, { $setOnInsert: { $vectorize: 'green' } })
    await run(2, { $setOnInsert: { $vectorize: 'blue' } })
    assert.deepEqual(fixture.models.taken(), [
      ['index', 'red'],
      ['index', 'green'],
    ])
    assert.deepEqual(await fixture.all(), [
      '{"_id":1,"$vector":[1,0,0],"$vectorize":"red"}',
      '{"_id":2,"$vector":[0,1,0],"$vectorize":"green"}',
    ])
  })

  test('in an upsert becomes an update when another request inserts the document during embedding', async () => {
    const fixture = withService()
    let first = true
    fixture.models.meanwhile = async () => {
      if (!first) return
      first = false
      await fixture.insert({ _id: 1, $vector: [1, 1, 1] })
    }
    const { upsertedId, after } = await fixture.update(
      { filter: { _id: 1 } },
      { $set: { $vectorize: 'red' } },
      { upsert: true },
    )
    assert.equal(upsertedId, undefined)
    assert.equal(after!.search!.vectorize, 'red')
    assert.deepEqual(fixture.models.taken(), [['index', 'red']])
  })
})

describe('replacing $vectorize', () => {
  test('embeds a new text, keeps the vector of an unchanged text, and clears omitted fields', async () => {
    const fixture = withService()
    await fixture.insert({ _id: 1, a: 1, $vectorize: 'red' })
    fixture.models.taken()
    await fixture.replace({}, { a: 2, $vectorize: 'red' })
    assert.deepEqual(fixture.models.taken(), [])
    await fixture.replace({}, { a: 2, $vectorize: 'blue' })
    assert.deepEqual(fixture.models.taken(), [['index', 'blue']])
    assert.deepEqual(await fixture.all(), [
      '{"_id":1,"a":2,"$vector":[0,0,1],"$vectorize":"blue"}',
    ])
    const same = await fixture.replace({}, { a: 2, $vectorize: 'blue' })
    assert.deepEqual([same.matchedCount, same.changedCount], [1, 0])
    await fixture.replace({}, { a: 3 })
    assert.deepEqual(await fixture.all(), ['{"_id":1,"a":3}'])
    await assert.rejects(fixture.replace({}, { $vectorize: 'x', $vector: null }), {
      code: 'INVALID_USAGE_OF_VECTORIZE',
    })
  })

  test('in an upsert sends one request', async () => {
    const fixture = withService()
    const filter = { _id: 1 }
    await fixture.replace({ filter }, { $vectorize: 'red' }, { upsert: true })
    assert.deepEqual(fixture.models.taken(), [['index', 'red']])
    assert.deepEqual(await fixture.all(), [
      '{"_id":1,"$vector":[1,0,0],"$vectorize":"red"}',
    ])
  })
})

describe('searching by $vectorize', () => {
  test('embeds the text for searching, and searches by its vector', async () => {
    const fixture = withService()
    await fixture.insert(
      ...['red', 'green', 'green green blue'].map(($vectorize, _id) => ({
        _id,
        $vectorize,
      })),
    )
    fixture.models.taken()
    const { ids, sortVector } = await fixture.page({ sort: { $vectorize: 'green blue' } })
    assert.deepEqual(fixture.models.taken(), [['search', 'green blue']])
    assert.deepEqual(ids, [2, 1, 0])
    assert.deepEqual(sortVector, Float32Array.of(0, 1, 1))
  })

  test('returns at most the maximum number of documents for a search by vector', async () => {
    const fixture = new Fixture({ vectorLimitMax: 2 }, wordVectors)
    await fixture.insert(...[1, 2, 3].map((_id) => ({ _id, $vectorize: 'red' })))
    const sort = { $vectorize: 'red' }
    assert.deepEqual(await fixture.pages({ sort }), [[1, 2]])
  })

  test('sends one request before locking, in commands that change documents', async () => {
    const fixture = withService()
    await fixture.insert({ _id: 1, $vectorize: 'red' })
    fixture.models.taken()
    fixture.models.meanwhile = async () => {
      await fixture.update({ filter: { _id: 1 } }, { $inc: { n: 1 } })
    }
    const sort = { $vectorize: 'red' }
    const update = { $inc: { n: 1 } }
    await fixture.update({ sort }, update)
    await fixture.update({ sort, filter: { _id: 1 } }, update)
    await deleteDocument(fixture.documents, fixture.select({ sort }), tester)
    assert.deepEqual(
      fixture.models.taken(),
      Array.from({ length: 3 }, () => ['search', 'red']),
    )
    assert.deepEqual(await fixture.all(), [])
  })

  test('is rejected when the vector of the text is zero', async () => {
    const fixture = withService()
    await assert.rejects(fixture.page({ sort: { $vectorize: 'mauve' } }), {
      code: 'SHRED_BAD_VECTOR_VALUE',
      message: /computed from \$vectorize.*cosine/,
    })
  })
})

test('a document keeps its vector while its text is unchanged', () => {
  const before = object({ $vectorize: 'text', $vector: [1, 2, 3] })
  const same = atOnce(keepEmbedding(before, object({ $vectorize: 'text', a: 1 })))
  assert.equal(same.get('$vector'), before.get('$vector'))
  const other = atOnce(keepEmbedding(before, new Map(before).set('$vectorize', 'other')))
  assert.equal(other.has('$vector'), false)
  const none = object({ $vector: [4, 5, 6] })
  assert.equal(atOnce(keepEmbedding(before, none)), none)
})
