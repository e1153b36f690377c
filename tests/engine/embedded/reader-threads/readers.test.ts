/** Long reads of several callers on real threads: the order in which they end. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import type { Caller } from '../../../../src/caller/caller.ts'
import { ownCaller } from '../../../../src/caller/caller.ts'
import type { EmbeddedOptions } from '../../../../src/engine/embedded/schema/options.ts'
import type { Engine, StoredRecord } from '../../../../src/engine/contract.ts'
import type { Collection } from '../../../../src/engine/schema.ts'
import { everything } from '../../../../src/language/filters/filter.ts'
import { openEmbedded } from '../embedded-store.ts'
import { pathOf, Store } from '../../store.ts'

/** A filter without an access path: every document must be parsed, so the count is a long read. */
const long = { kind: 'notSize', path: pathOf('list'), size: 3 } as const

const documents = 3_000

function callerOf(principalName: string, connection: object, signal?: AbortSignal): Caller {
  return { ...ownCaller(signal), principalName, connection }
}

async function filled(context: TestContext, options: Partial<EmbeddedOptions> = {}) {
  const { engine } = await openEmbedded(context, options)
  const store = await Store.create(engine, 'long')
  const list = Array.from({ length: 30 }, (_, i) => `element ${i}`)
  for (let i = 0; i < documents; i += 500)
    await store.insert(Array.from({ length: 500 }, (_, j) => ({ _id: i + j, list })))
  const world = { engine, target: store.target }
  // This count starts a reader thread, so that no read of a test has to wait until a
  // thread starts.
  await count(world, callerOf('first', {}), 'first', [])
  return world
}

/** Counts the documents, and adds `name` to `ended` when the count has ended. */
async function count(
  { engine, target }: { readonly engine: Engine; readonly target: Collection },
  caller: Caller,
  name: string,
  ended: string[],
): Promise<void> {
  assert.equal(await engine.count(target, long, documents + 1, caller), documents)
  ended.push(name)
}

const waitingReads = async (engine: Engine) =>
  (await engine.operations!.statistics()).waitingReads

describe('threads of long reads', () => {
  test('end when no read is left, except for as many threads as reads may run at once', async (context) => {
    const world = await filled(context, { searchThreads: 2, spareThreadMs: 500 })
    const { engine } = world
    const readerCount = async () =>
      (await engine.operations!.statistics()).threads.filter(({ thread }) =>
        thread.startsWith('reader'),
      ).length
    const many = () =>
      Promise.all(
        Array.from({ length: 12 }, (_, i) =>
          count(world, callerOf(`${i}`, {}), `${i}`, []),
        ),
      )
    for (let round = 0; round < 2; round++) {
      let most = 0
      while (most <= 2) {
        const counted = many()
        most = Math.max(most, await readerCount())
        await counted
        most = Math.max(most, await readerCount())
      }
      while ((await readerCount()) > 2);
      assert.equal(await readerCount(), 2)
    }
    await count(world, callerOf('one', {}), 'one', [])
  })
})

describe('long reads', () => {
  for (const [what, other] of [
    ['another principal', { principalName: 'other', connection: {} }],
    ['another connection of the same principal', { principalName: 'many', connection: {} }],
  ] as const)
    test(`from one connection take turns with reads from ${what}`, async (context) => {
      const world = await filled(context, { searchThreads: 2 })
      const many = callerOf('many', {})
      const ended: string[] = []
      const hostile = Array.from({ length: 24 }, (_, i) =>
        count(world, many, `hostile ${i}`, ended),
      )
      assert.equal(await waitingReads(world.engine), 24)
      await count(world, callerOf(other.principalName, other.connection), 'other', ended)
      assert(ended.length <= 8, `it ended after ${ended.length - 1} others`)
      await Promise.all(hostile)
      assert.equal(await waitingReads(world.engine), 0)
    })

  test('end in the order in which their principal sent them', async (context) => {
    const world = await filled(context, { searchThreads: 1 })
    const caller = callerOf('one', {})
    const ended: string[] = []
    const names = Array.from({ length: 6 }, (_, i) => `${i}`)
    await Promise.all(names.map((name) => count(world, caller, name, ended)))
    assert.deepEqual(ended, names)
  })

  test('are rejected when the maximum number of reads of their principal wait', async (context) => {
    const world = await filled(context, { searchThreads: 1, waitingReadsMax: 2 })
    const ended: string[] = []
    const one = callerOf('one', {})
    const taken = [1, 2, 3].map((i) => count(world, one, `${i}`, ended))
    await assert.rejects(count(world, one, 'refused', ended), {
      name: 'EngineError',
      kind: 'overloaded',
      message: /^2 reads/,
    })
    await Promise.all([...taken, count(world, callerOf('two', {}), 'other', ended)])
    assert.deepEqual(ended.toSorted(), ['1', '2', '3', 'other'])
    await count(world, one, 'again', ended)
  })

  test('end at once when they are aborted, whether started or not', async (context) => {
    const world = await filled(context, { searchThreads: 1 })
    const ended: string[] = []
    const givenUp = new AbortController()
    const leaving = callerOf('one', {}, givenUp.signal)
    const left = Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => count(world, leaving, `${i}`, ended)),
    )
    const before = waitingReads(world.engine)
    const reason = new Error('enough')
    givenUp.abort(reason)
    const after = waitingReads(world.engine)
    assert.equal(await before, 20)
    // Only the read with a thread is still counted: its thread notices the abort at its next step.
    assert.equal(await after, 1)
    for (const outcome of await left)
      assert.deepEqual(outcome, { status: 'rejected', reason })
    await count(world, callerOf('one', {}), 'last', ended)
    assert.deepEqual(ended, ['last'])
    await assert.rejects(count(world, leaving, 'late', ended), reason)
    assert.equal(await waitingReads(world.engine), 0)
  })

  test('end when the engine is closed', async (context) => {
    const world = await filled(context, { searchThreads: 2 })
    const ended: string[] = []
    const reads = Array.from({ length: 8 }, (_, i) =>
      count(world, callerOf(`${i}`, {}), `${i}`, ended),
    )
    const outcomes = Promise.allSettled(reads)
    await world.engine.close()
    assert.equal((await outcomes).length, 8)
  })
})

describe('memory for the result of a long read', () => {
  const text = 'x'.repeat(200_000)
  const find = {
    ...{ filter: everything, sort: [], skip: 0, limit: 20, after: undefined },
    ...{ stable: false, withSearchFields: false, textsOnly: true },
  } as const

  async function large(context: TestContext, options: Partial<EmbeddedOptions> = {}) {
    const { engine } = await openEmbedded(context, options)
    const store = await Store.create(engine, 'large')
    await store.insert(Array.from({ length: 20 }, (_, _id) => ({ _id, text })))
    return { engine, target: store.target }
  }

  /** A caller that records each request to reserve memory and returns `answer()` for it. */
  function askedCaller(answer: () => Promise<void> | undefined) {
    const asked: (readonly [size: number, before: number])[] = []
    const reserve = (size: number, before: number) => {
      asked.push([size, before])
      return answer()
    }
    return { asked, caller: { ...callerOf('one', {}), reserve } }
  }

  const whole = (records: readonly StoredRecord[]) => {
    assert.equal(records.length, 20)
    for (const [i, record] of records.entries())
      assert.equal(record.text, JSON.stringify({ _id: i, text }))
  }

  test('is reserved before the read, in one step', async (context) => {
    const { engine, target } = await large(context)
    const { asked, caller } = askedCaller(() => undefined)
    const { records } = await engine.read(target, find, caller)
    const size = records.reduce((sum, record) => sum + record.text.length, 0)
    assert.deepEqual(asked, [[size, 0]])
    // Without textsOnly, the engine derives a second text from the text of each record. So it
    // reserves twice the size.
    await engine.read(target, { ...find, textsOnly: false }, caller)
    assert.deepEqual(asked[1], [2 * size, 0])
  })

  test('is not reserved for small results', async (context) => {
    const { engine, target } = await filled(context)
    const { asked, caller } = askedCaller(() => assert.fail())
    const page = await engine.read(target, { ...find, filter: long, limit: 9 }, caller)
    assert.equal(page.records.length, 9)
    assert.deepEqual(asked, [])
  })

  test('is awaited without holding a thread', async (context) => {
    const { engine, target } = await large(context, { searchThreads: 1 })
    const room = Promise.withResolvers<undefined>()
    const isAsked = Promise.withResolvers<undefined>()
    const { asked, caller } = askedCaller(() => {
      isAsked.resolve(undefined)
      return room.promise
    })
    const waiting = engine.read(target, find, caller)
    await isAsked.promise
    // The waiting read does not hold the only reader thread, so other reads run.
    for (let i = 0; i < 8; i++) {
      const other = await engine.read(target, find, callerOf('other', {}))
      whole(other.records)
    }
    assert.equal(await waitingReads(engine), 0)
    room.resolve(undefined)
    const { records } = await waiting
    whole(records)
    assert.equal(asked.length, 1)
  })

  test('that cannot be reserved makes the read fail', async (context) => {
    const { engine, target } = await large(context)
    const { caller } = askedCaller(() => Promise.reject(new Error('no room')))
    await assert.rejects(async () => engine.read(target, find, caller), /^Error: no room$/)
    assert.equal(await waitingReads(engine), 0)
  })

  test('that is being reserved when the caller is aborted makes the read fail', async (context) => {
    const { engine, target } = await large(context)
    const leaving = new AbortController()
    const caller = {
      ...callerOf('one', {}, leaving.signal),
      reserve() {
        leaving.abort(new Error('enough'))
        return undefined
      },
    }
    await assert.rejects(async () => engine.read(target, find, caller), /^Error: enough$/)
    while ((await waitingReads(engine)) > 0);
  })

  test('is reserved again with twice the size for texts of 16-bit characters', async (context) => {
    const { engine } = await openEmbedded(context)
    const wide = await Store.create(engine, 'wide')
    const texts = [...Array<string>(9).fill(text), `${text}é`, `${text}𝄞`]
    await wide.insert(texts.map((one, _id) => ({ _id, text: one })))
    const { asked, caller } = askedCaller(() => undefined)
    const { records } = await engine.read(wide.target, find, caller)
    assert.deepEqual(
      records.map((record) => (JSON.parse(record.text) as { text: string }).text),
      texts,
    )
    const size = records.reduce((sum, record) => sum + Buffer.byteLength(record.text), 0)
    assert.deepEqual(asked, [
      [size, 0],
      [2 * size, size],
    ])
  })
})
