/**
 * Large requests must give turns to other requests. The tests count other requests that are
 * answered while a command runs, and measure no times.
 */
import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { defaultLimits } from '../../src/limits.ts'
import { startServer, type Answer, type TestServer } from '../harness.ts'

/**
 * Number of values in the request, and the minimum number of other requests that must be answered
 * meanwhile.
 */
const count = 900_000
const answersMin = 4

describe('a large request', () => {
  let server: TestServer
  afterEach(() => server.close())

  async function start(config: Parameters<typeof startServer>[0] = {}): Promise<void> {
    // Disables the checks of the engine contract, which would take most of the time.
    server = await startServer({ checked: false, durable: false, ...config })
    const indexing = { allow: ['n'] }
    await send('', { createCollection: { name: 'free', options: { indexing } } })
    await send('', { createCollection: { name: 'indexed' } })
  }

  function send(path: string, command: object | string): Promise<Answer> {
    return server.command(`/default_keyspace${path}`, command)
  }

  /** Counts the other requests that are answered while the command runs. */
  async function answersDuring(command: Promise<Answer>): Promise<number> {
    const state = { isRunning: true }
    const ended = command.finally(() => (state.isRunning = false))
    let answers = 0
    while (state.isRunning) {
      // Does not send the health check, because it writes to the disk, which the command may keep
      // busy.
      const { codes } = await server.command('', { findKeyspaces: {} })
      assert.deepEqual(codes, [])
      answers++
    }
    await ended
    return answers
  }

  const elements = Array.from({ length: 200_000 }, (_, k) => ({ k, b: 1 }))
  const rowsOfNumbers = Array.from({ length: 900 }, (_, i) =>
    Array.from({ length: 900 }, (_, j) => i + j),
  )

  test('lets other requests run while it is parsed', async () => {
    await start()
    const answering = send('', `[${'{},'.repeat(count)}0]`)
    const answers = await answersDuring(answering)
    assert.deepEqual((await answering).codes, ['REQUEST_STRUCTURE_MISMATCH'])
    assert(answers >= answersMin, `${answers} answers`)
  })

  test('lets other requests run while it inserts, changes, returns and deletes a large document', async () => {
    await start()
    const filter = { _id: 'large' }
    const commands = [
      ['/free', { insertOne: { document: { ...filter, n: 7, elements } } }],
      ['/free', { updateOne: { filter, update: { $set: { m: 1 } } } }],
      ['/free', { findOne: { filter, projection: { m: 0 } } }],
      ['/indexed', { insertOne: { document: { ...filter, rowsOfNumbers } } }],
      ['/indexed', { updateOne: { filter, update: { $set: { m: 1 } } } }],
      ['/indexed', { deleteOne: { filter } }],
    ] as const
    for (const [path, command] of commands) {
      const answering = send(path, command)
      const answers = await answersDuring(answering)
      const name = `${Object.keys(command).join()} ${path}`
      assert.deepEqual((await answering).codes, [], name)
      assert(answers >= answersMin, `${name}: ${answers} answers`)
    }
  })

  test('that times out during parsing changes nothing', async () => {
    await start()
    await server.stop()
    const { dataDir } = server
    server = await startServer({ dataDir, commandTimeoutMs: 20 })
    const document = { _id: 'late', elements }
    const late = await send('/free', { insertOne: { document } })
    // The error is that of a timeout during a read. Until the body is parsed, the server does not
    // know that the command writes.
    assert.deepEqual(late.codes, ['TIMEOUT_READING_DATA'])
    // The server runs with a timeout only for the late command. On a busy machine, other commands
    // might exceed the timeout.
    await server.stop()
    server = await startServer({ dataDir })
    const found = await send('/free', { findOne: { filter: { _id: 'late' } } })
    assert.equal(found.body.data?.document, null)
  })

  test('with too many values is rejected, and the error names the setting', async () => {
    const limits = { ...defaultLimits, bodyValuesMax: 10_000 }
    await start({ limits })
    // The limit counts the body, the command, its document and the array as one value each, besides
    // the numbers.
    const of = (numbers: number) => ({
      insertOne: { document: { numbers: Array<number>(numbers).fill(0) } },
    })
    assert.deepEqual((await send('/free', of(9_996))).codes, [])
    const refused = await send('/free', of(9_997))
    assert.deepEqual(refused.codes, ['TOO_MANY_VALUES_IN_BODY'])
    assert.match(
      refused.body.errors![0]!.message,
      /maximum of 10000 JSON values.*--max-body-values/,
    )
  })

  test('is accepted when the sizes and numbers of its values are at the limits', async () => {
    await start()
    const options = { vector: { dimension: defaultLimits.vectorDimensionMax } }
    await send('', { createCollection: { name: 'vectors', options } })
    const numbers = Array.from(
      { length: defaultLimits.vectorDimensionMax },
      (_, i) => i + 1,
    )
    const named = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, i]))
    const documents = Array.from({ length: defaultLimits.insertManyMax }, (_, _id) => ({
      ...{ _id, $vector: numbers },
      ...{ a: named(990), b: named(990) },
    }))
    const inserted = await send('/vectors', { insertMany: { documents } })
    assert.deepEqual(inserted.codes, [])
    assert.equal((inserted.body.status!['insertedIds'] as unknown[]).length, 100)
  })
})
