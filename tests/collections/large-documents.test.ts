/** How often work on large documents asks whether others are to have their turn. */
import { findDocuments } from '../../src/collections/find-documents.ts'
import { insertDocuments } from '../../src/collections/insert.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AnalysisBudget } from '../../src/analysis-budget.ts'
import { ownCaller, type Caller } from '../../src/caller.ts'
import { parseBody } from '../../src/http/body.ts'
import { defaultLimits } from '../../src/limits.ts'
import { Fixture } from './fixture.ts'
import { json } from './json.ts'

/** Lets others have their turn whenever it is asked, and counts how often that is. */
class CountingCaller implements Caller {
  readonly #own = ownCaller()
  readonly principalName = ''
  readonly connection = this
  readonly signal = this.#own.signal
  readonly analysis = new AnalysisBudget(this)
  asked = 0
  /** Fails when it has been asked so often, as a request does whose time is over. */
  readonly askedMax: number

  constructor(askedMax = Infinity) {
    this.askedMax = askedMax
  }

  check(): void {
    if (this.asked >= this.askedMax) throw new Error('the time is over')
  }

  pause(): Promise<void> {
    this.asked++
    this.check()
    return Promise.resolve()
  }
}

/** Values in each document, and how many may pass at most between two pauses. */
const count = 40_000
const valuesPerPause = 2_000

function large(_id: string) {
  const elements = Array.from({ length: count / 4 }, (_, k) => ({ k, b: 1, c: 'x' }))
  return { _id, elements }
}

describe('large documents', () => {
  test('are parsed with pauses, small ones without a promise', async () => {
    const caller = new CountingCaller()
    const body = Buffer.from(JSON.stringify(large('a')))
    await parseBody(body, defaultLimits, caller)
    assert(caller.asked >= count / valuesPerPause, `${caller.asked} pauses`)
    const small = parseBody(Buffer.from('{"find":{}}'), defaultLimits, caller)
    assert(small instanceof Map)
  })

  test('are inserted and shown with pauses', async () => {
    const fixture = new Fixture({}, { indexing: { allow: ['n'] } })
    const pausesOf = async (act: (caller: Caller) => Promise<unknown>) => {
      const caller = new CountingCaller()
      await act(caller)
      return caller.asked
    }
    const { documents } = fixture
    const all = [json(large('a')), json(large('b'))]
    const inserting = await pausesOf(async (caller) => {
      const done = await insertDocuments(documents, all, true, caller)
      assert(done.every(({ outcome }) => outcome === 'done'))
    })
    assert(inserting >= (2 * count) / valuesPerPause, `${inserting} pauses to insert`)
    const selection = fixture.select({ projection: { b: 0 } })
    const showing = await pausesOf((caller) =>
      findDocuments(documents, selection, {}, caller),
    )
    assert(showing >= (2 * count) / valuesPerPause, `${showing} pauses to show`)
  })

  test('whose time is over in the middle are not inserted', async () => {
    const fixture = new Fixture({}, { indexing: { allow: ['n'] } })
    const insert = (caller: Caller) =>
      insertDocuments(fixture.documents, [json(large('a'))], false, caller)
    const caller = new CountingCaller(10)
    await assert.rejects(insert(caller), /the time is over/)
    const found = await findDocuments(fixture.documents, fixture.select(), {}, ownCaller())
    assert.equal(found.documents, '')
  })
})
