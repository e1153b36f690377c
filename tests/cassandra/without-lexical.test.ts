/** Hybrid search on a collection with vectors and without texts for lexical search. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Engine } from '../../src/engine/contract.ts'
import { LetterModels, lettersCollection } from '../commands/letter-models.ts'
import { startServer, type TestServer } from '../harness.ts'
import { testLimits } from './connect.ts'
import { TestKeyspaces } from './test-keyspaces.ts'

const keyspace = '/default_keyspace'
const path = `${keyspace}/ants`

describe('findAndRerank on documents without $lexical', () => {
  const scannedMax = 30
  let models: LetterModels
  let keyspaces: TestKeyspaces
  let engine: Engine
  let server: TestServer

  const send = async (target: string, body: object) => {
    const { codes, text, body: answered } = await server.command(target, body)
    assert.deepEqual(codes, [], text)
    return answered
  }
  const findCount = async () => {
    const { data } = await send(path, { findAndRerank: { sort: { $hybrid: 'ant' } } })
    return data!.documents!.length
  }

  before(async () => {
    models = await LetterModels.start()
    keyspaces = await TestKeyspaces.make()
    engine = await keyspaces.open({ limits: { ...testLimits, scannedMax } })
    server = await startServer({ checked: false, providers: models.settings }, engine)
    const createCollection = { name: 'ants', options: lettersCollection }
    await send(keyspace, { createCollection })
    const documents = Array.from({ length: scannedMax + 5 }, (_, _id) => {
      return { _id, $vectorize: 'ant' }
    })
    await send(path, { insertMany: { documents } })
  })

  after(async () => {
    await server.close()
    await engine.close()
    await keyspaces.remove()
    await models.close()
  })

  test('returns the documents without scanning the collection for $lexical', async () => {
    assert((await findCount()) > 0)
  })

  test('reranks the vector search when $hybrid has no $lexical', async () => {
    const document = { _id: 'text', $lexical: 'bee' }
    await send(path, { insertOne: { document } })
    const sort = { $hybrid: { $vectorize: 'ant' } }
    const { data } = await send(path, { findAndRerank: { sort } })
    assert.equal(data!.documents!.length, 10)
    await send(path, { deleteOne: { filter: { _id: 'text' } } })
  })

  test('does not return the documents while another document has $lexical', async () => {
    const document = { _id: 'text', $lexical: 'bee' }
    await send(path, { insertOne: { document } })
    assert.equal(await findCount(), 0)
    const update = { $unset: { $lexical: '' } }
    await send(path, { updateOne: { filter: { _id: 'text' }, update } })
    assert((await findCount()) > 0)
    await send(path, { insertOne: { document: { ...document, _id: 'other' } } })
    assert.equal(await findCount(), 0)
    await send(path, { deleteOne: { filter: { _id: 'other' } } })
    assert((await findCount()) > 0)
  })
})
