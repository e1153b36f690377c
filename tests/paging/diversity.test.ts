/** A diverse search yields to other requests, and ends at its deadline. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Caller } from '../../src/caller/caller.ts'
import { findDocuments, type FindOptions } from '../../src/collections/find-documents.ts'
import { Fixture, tester } from '../collections/fixture.ts'

const sort = { $vector: [1, 0] }

/** A fixture with `count` documents, whose vectors are on the unit circle. */
async function circle(count: number): Promise<Fixture> {
  const fixture = new Fixture()
  const documents = Array.from({ length: count }, (_, n) => ({
    _id: n,
    $vector: [Math.cos(n), Math.sin(n)],
  }))
  await fixture.insert(...documents)
  return fixture
}

/** Finds documents. Returns the number of times that the search called `pause`. */
async function pausesOf(
  fixture: Fixture,
  options: FindOptions,
  pausesMax = Infinity,
): Promise<number> {
  let pauses = 0
  const caller: Caller = {
    ...tester,
    pause() {
      if (++pauses > pausesMax) throw new Error('the deadline has passed')
      return Promise.resolve()
    },
  }
  await findDocuments(fixture.documents, fixture.select({ sort }), options, caller)
  return pauses
}

describe('a search with diversity', () => {
  test('pauses in proportion to the number of comparisons', async () => {
    const count = 200
    const fixture = await circle(count)
    const plain = await pausesOf(fixture, { diversity: 0 })
    const diverse = await pausesOf(fixture, { diversity: 0.5 })
    const comparisons = (count * (count - 1)) / 2
    // A diverse search takes one more step for each candidate, and one for every 500 comparisons.
    assert(diverse - plain >= count + comparisons / 500, `${diverse}, ${plain}`)
  })

  test('ends at the deadline', async () => {
    const fixture = await circle(200)
    const pauses = await pausesOf(fixture, { diversity: 0.5 })
    const late = pausesOf(fixture, { diversity: 0.5 }, pauses - 210)
    await assert.rejects(late, { message: 'the deadline has passed' })
  })
})
