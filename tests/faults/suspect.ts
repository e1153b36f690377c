/**
 * A server that gets invalid requests. After each test it must still answer, have its data, and
 * have logged no errors.
 */
import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { after, afterEach, before } from 'node:test'
import { checkDataFolder } from '../engine/embedded/backup/check-data-folder.ts'
import { temporaryFolder } from '../harness.ts'
import { killLeftovers, ServerProcess, type ProcessAnswer } from './server-process.ts'

/** Error codes of server faults, which no request may cause. */
const ourMistakes = [
  'UNEXPECTED_SERVER_ERROR',
  'INTERNAL_SERVER_ERROR',
  'STORED_DATA_DAMAGED',
  'FAILED_READ_REQUEST',
  'FAILED_WRITE_REQUEST',
]

const keptDocuments = [
  { _id: 'kept-1', n: 1, tags: ['a', 'b'], place: { city: 'Ur', zip: [1, 2] } },
  { _id: 'kept-2', n: 2.5, tags: [], place: null, when: { $date: 1_700_000_000_000 } },
  { _id: 'kept-3', n: -3, text: 'naïve 💥 \u0000 \\ "', flag: true },
]

export class Suspect {
  inputs = 0
  #server: ServerProcess | undefined
  #folder = ''
  readonly #serverCodes: readonly string[] | undefined

  /**
   * Serves the tests of a file, with the collections "kept" and "open" and what `prepare` creates.
   * If `serverCodes` are given, requests may cause only these errors of the family SERVER.
   */
  constructor(
    flags: readonly string[] = [],
    prepare?: () => Promise<void>,
    serverCodes?: readonly string[],
  ) {
    this.#serverCodes = serverCodes
    before(async () => {
      this.#folder = await temporaryFolder()
      this.#server = await ServerProcess.start(
        this.#folder,
        ...['--log-level', 'error', '--max-bad-credentials', '0', ...flags],
      )
      for (const name of ['kept', 'open'])
        await this.accepted('/default_keyspace', { createCollection: { name } })
      await this.accepted('/default_keyspace/kept', {
        insertMany: { documents: keptDocuments, options: { ordered: true } },
      })
      await prepare?.()
    })
    afterEach(() => this.#assertUnharmed())
    after(async () => {
      try {
        assert.equal(await this.server.stop(), 0)
        assert.deepEqual(checkDataFolder(this.#folder), [])
      } finally {
        await killLeftovers()
      }
      await rm(this.#folder, { recursive: true, force: true })
    })
  }

  get server(): ServerProcess {
    assert(this.#server, 'the server runs from the first test to the last')
    return this.#server
  }

  /** Sends any body. The reply must be an envelope without errors of the server itself. */
  async send(path: string, body: object | string | Buffer): Promise<ProcessAnswer> {
    this.inputs++
    const answer = await this.server.command(path, body)
    const told = () => {
      const sent = typeof body === 'string' ? body : JSON.stringify(body)
      return `${sent.slice(0, 2_000)} => ${answer.text.slice(0, 2_000)}`
    }
    if (answer.http === 413) assert.deepEqual(answer.codes, ['BODY_TOO_LARGE'])
    else assert.equal(answer.http, 200, told())
    assertEnvelope(answer, told)
    if (this.#serverCodes !== undefined)
      for (const { family, errorCode } of answer.body.errors ?? [])
        assert(family === 'REQUEST' || this.#serverCodes.includes(errorCode), told())
    return answer
  }

  /** Sends a command to the collection "open". */
  open(body: object | string | Buffer): Promise<ProcessAnswer> {
    return this.send('/default_keyspace/open', body)
  }

  async accepted(path: string, body: object | string): Promise<ProcessAnswer> {
    const answer = await this.send(path, body)
    assert.deepEqual(answer.codes, [], answer.text.slice(0, 2_000))
    return answer
  }

  async refused(path: string, body: object | string | Buffer, code: string): Promise<void> {
    const answer = await this.send(path, body)
    assert.deepEqual(answer.codes, [code], answer.text.slice(0, 2_000))
  }

  async #assertUnharmed(): Promise<void> {
    assert.equal(this.server.child.exitCode, null, this.server.err)
    const kept = await this.server.command('/default_keyspace/kept', { find: {} })
    assert.deepEqual(kept.body, {
      data: { documents: keptDocuments, nextPageState: null },
    })
    const count = await this.server.command('/default_keyspace/kept', {
      countDocuments: { filter: { n: { $lt: 2 } } },
    })
    assert.deepEqual(count.body, { status: { count: 2 } })
    assert.equal(this.server.err, '', 'the server complained')
  }
}

function assertEnvelope(answer: ProcessAnswer, told: () => string): void {
  const { body } = answer
  assert(typeof body === 'object' && !Array.isArray(body), told())
  const members = Object.keys(body)
  assert(members.length > 0, told())
  for (const member of members)
    assert(['data', 'status', 'errors'].includes(member), `${member}: ${told()}`)
  const { errors, data } = body
  if (errors === undefined) return
  assert(errors.length > 0 && data === undefined, told())
  for (const error of errors) {
    for (const field of ['id', 'family', 'errorCode', 'title', 'message'] as const)
      assert(typeof error[field] === 'string' && error[field] !== '', told())
    assert(!ourMistakes.includes(error.errorCode), told())
  }
}
