/**
 * The index of terms that servers maintain on a cluster, with two writers, some of whose
 * writes fail.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { WriteClock } from '../../src/engine/cassandra/cluster/write-clock.ts'
import { ClusterPostings } from '../../src/engine/cassandra/lexical/postings.ts'
import { sessionOf } from '../../src/engine/cassandra/cluster/open-cluster.ts'
import { defaultConsistency } from '../../src/engine/cassandra/cluster/consistency.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { exists } from '../engine/store.ts'
import { insertion, LexicalStore, match } from '../engine/embedded/lexical/lexical-store.ts'
import { Random, seed } from '../faults/random.ts'
import { clientOf } from './connect.ts'
import { TestKeyspaces } from './test-keyspaces.ts'
import { testNode } from './test-node.ts'

const words = ['ant', 'bee', 'cat', 'dog', 'eel', 'fox']
describe(`terms on a cluster (seed ${seed})`, () => {
  let keyspaces: TestKeyspaces
  let engines: readonly [Engine, Engine]
  before(async () => {
    keyspaces = await TestKeyspaces.makePlain()
    engines = [await keyspaces.open(), await keyspaces.open()]
  })
  after(async () => {
    for (const engine of engines) await engine.close()
    await keyspaces.remove()
  })

  test('match the documents that contain them, whichever server wrote each document last', async () => {
    const random = new Random(seed)
    const first = await LexicalStore.create(engines[0], 'contested')
    const stores = [first, await LexicalStore.find(engines[1], 'contested')]
    const ids = Array.from({ length: 12 }, (_, id) => id)
    await first.insert(...ids.map((_id) => [{ _id }, 'ant bee'] as const))
    const textOf = () => {
      const count = random.below(4)
      return Array.from({ length: count }, () => random.pick(words)).join(' ')
    }
    const write = async (store: LexicalStore) => {
      for (let step = 0; step < 40; step++) {
        const _id = random.pick(ids)
        // A write that fails with a conflict stores nothing, so searches must not find its terms.
        if (random.oneIn(10)) await store.delete(_id).catch(() => undefined)
        else await store.replace({ _id }, textOf()).catch(() => undefined)
        if (random.oneIn(5)) await store.write([insertion({ _id }, textOf())])
      }
    }
    await Promise.all([...stores, ...stores].map(write))
    const texts = new Map<number, string>()
    for (const id of (await first.ids(exists('_id'))) as number[])
      texts.set(id, (await first.one(id)).search?.lexical ?? '')
    for (const store of stores)
      for (const word of words) {
        const expected = [...texts]
          .filter(([, text]) => text.split(' ').includes(word))
          .map(([id]) => id)
        const found = (await store.search(word, exists('_id'), 100)) as number[]
        assert.deepEqual(found.toSorted(), expected.toSorted(), word)
      }
  })

  test('are scored with current statistics when another server has just written most of the documents', async () => {
    const first = await LexicalStore.create(engines[0], 'behind')
    const second = await LexicalStore.find(engines[1], 'behind')
    assert.deepEqual(await second.search('ant'), [])
    await first.insert([{ _id: 1 }, 'ant bee'], [{ _id: 2 }, 'ant'])
    assert.deepEqual(await second.search('ant'), [2, 1])
    await first.insert(...[3, 4, 5].map((_id) => [{ _id }, 'bee ant ant'] as const))
    assert.deepEqual(await second.search('ant'), [2, 3, 4, 5, 1])
  })

  test('are not found for documents that were never written', async () => {
    const store = await LexicalStore.create(engines[0], 'unwritten')
    await store.insert([{ _id: 1 }, 'ant'])
    const connect = await testNode()
    const client = clientOf(connect, {
      encoding: { map: Map, set: Set, useBigIntAsLong: true },
    })
    try {
      const session = sessionOf(client, { consistency: defaultConsistency })
      const postings = ClusterPostings.open(
        session,
        keyspaces.nameOf('stela'),
        new WriteClock(),
      )
      const place = { target: store.target.uid, path: '$lexical' }
      // Writes the same index entries as a server that dies before it writes the document.
      for (const key of ['2:1', '2:2'])
        await postings.put(place, { key, text: 'ant bee', terms: ['ant', 'bee'] }, 1n)
      assert.deepEqual(await store.search('ant'), [1])
      assert.deepEqual(await store.search('bee'), [])
      assert.equal(await store.count(match('bee')), 0)
    } finally {
      await client.shutdown()
    }
  })
})
