/**
 * A client's connection: sends commands one after the other and classifies their outcomes. Whether
 * an error of the server is acceptable depends on the active faults.
 */
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { ProcessAnswer as Answer } from '../faults/server-process.ts'
import type { Random } from '../faults/random.ts'
import type { Host } from './host.ts'
import { token, type Life } from './life.ts'
import { shortened, Unexplained } from './unexplained.ts'

export { Answer }

export type Told =
  | { readonly kind: 'answered'; readonly answer: Answer }
  /** A server error that guarantees that nothing was changed. */
  | { readonly kind: 'refused'; readonly answer: Answer }
  /**
   * No answer: the command may have been executed wholly, in part, or not at all. It cannot have a
   * later effect: either its process has ended and another one serves, or `cutRestMs` have passed.
   */
  | { readonly kind: 'lost' }

/** Milliseconds after which a running server that does not answer counts as hanging. */
const answerMaxMs = 60_000

/**
 * Maximum time for which a command may continue to run after the server has closed its connection.
 */
const cutRestMs = 4_000

/** Maximum number of commands in the trace that a failure prints, and of characters of each. */
const traceMax = 60
const tracedMax = 400

/**
 * The client abandons one command in `hangUpOneIn`, within `hangUpMaxMs` milliseconds after sending
 * it.
 */
const hangUpOneIn = 250
const hangUpMaxMs = 15

const turnedAwayRestMs = 20
const refusedReadRestMs = 50

/** Attempts of a command before repeated rejections count as a failure of the run. */
const attemptsMax = 1_000

export class Line {
  /**
   * The server that answers. While a strike runs, it is a server with a damaged copy of the data.
   */
  host: Host
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  /** The latest commands and their outcomes. */
  readonly #trace: string[] = []

  /** When set, the client abandons commands at random. */
  hangUps: Random | undefined

  constructor(host: Host) {
    this.host = host
  }

  /** Sends a command that may change data. */
  async send(path: string, command: object): Promise<Told> {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const told = await this.#attempt(path, command)
      if (told === 'later') continue
      if (told.kind === 'lost') this.host.tally.unknown++
      if (told.kind === 'refused') this.host.tally.refusedWrites++
      return told
    }
    throw new Unexplained(`not accepted in ${attemptsMax} attempts`, { command })
  }

  /** Sends a read, repeatedly until it is answered. */
  async ask(path: string, command: object): Promise<Answer> {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const told = await this.#attempt(path, command)
      if (told === 'later' || told.kind === 'lost') continue
      if (told.kind === 'answered') {
        this.host.tally.readsChecked++
        return told.answer
      }
      this.host.tally.refusedReads++
      await delay(refusedReadRestMs)
    }
    throw new Unexplained(`not answered in ${attemptsMax} attempts`, { command })
  }

  /** The latest commands, oldest first. */
  get trace(): string {
    return this.#trace.join('\n')
  }

  close(): void {
    this.#agent.destroy()
  }

  async #attempt(path: string, command: object): Promise<Told | 'later'> {
    const { tally, disk } = this.host
    const life = await this.host.serving()
    const name = Object.keys(command)[0]!
    const sentAt = performance.now()
    const got = await Promise.race([this.#post(life, path, command), this.host.broken])
    this.#note(path, command, typeof got === 'string' ? got : got.text)
    if (got === 'never sent') {
      await delay(turnedAwayRestMs)
      return 'later'
    }
    tally.countSent(name)
    if (got === 'cut' || got === 'hung up') {
      if (got === 'hung up') tally.hangUps++
      await this.#untilOver(life, got)
      return { kind: 'lost' }
    }
    if (got === 'hangs')
      throw new Unexplained(`${path}: no answer in ${answerMaxMs / 1000} s`, {
        command,
        answer: life.log,
      })
    if (got.http === 429 || got.http === 503) {
      tally.turnedAway++
      await delay(turnedAwayRestMs)
      return 'later'
    }
    tally.answers++
    const verdict = verdictOn(got, {
      isStarved: disk?.wasStarvedSince(sentAt) === true,
      isEnding: life.fate !== 'living',
    })
    switch (verdict) {
      case 'answered':
        return { kind: 'answered', answer: got }
      case 'refused':
        return { kind: 'refused', answer: got }
      case 'unknown':
        await this.#untilOver(life, 'cut')
        return { kind: 'lost' }
      case 'unfit': {
        const what = `${path}: an error for which there was no reason`
        const unfit = new Unexplained(what, { command, answer: got.text })
        unfit.refusal = got
        throw unfit
      }
    }
  }

  #note(path: string, command: object, outcome: string): void {
    const sent = shortened(JSON.stringify(command), tracedMax)
    this.#trace.push(`${path} ${sent} => ${shortened(outcome, tracedMax)}`)
    if (this.#trace.length > traceMax) this.#trace.shift()
  }

  async #untilOver(life: Life, how: 'cut' | 'hung up'): Promise<void> {
    const isOver = life.ended.then(() => true)
    if (await Promise.race([isOver, delay(cutRestMs, false, { ref: false })])) return
    if (life.fate === 'living') {
      if (how === 'cut') this.host.tally.connectionsCut++
    } else await Promise.race([isOver, this.host.broken])
  }

  #post(
    life: Life,
    path: string,
    command: object,
  ): Promise<Answer | 'never sent' | 'cut' | 'hung up' | 'hangs'> {
    const bytes = JSON.stringify(command)
    return new Promise((resolve) => {
      const request = httpRequest(`${life.url}/v1${path}`, {
        agent: this.#agent,
        method: 'POST',
        headers: {
          Token: token,
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(bytes),
        },
      })
      const hanging = setTimeout(() => {
        resolve('hangs')
        request.destroy()
      }, answerMaxMs)
      const settle = (outcome: Answer | 'never sent' | 'cut' | 'hung up') => {
        clearTimeout(hanging)
        clearTimeout(leaving)
        resolve(outcome)
      }
      const leaving =
        this.hangUps?.oneIn(hangUpOneIn) === true
          ? setTimeout(() => {
              settle('hung up')
              request.destroy()
            }, this.hangUps.below(hangUpMaxMs))
          : undefined
      request.on('error', (error: NodeJS.ErrnoException) =>
        settle(error.code === 'ECONNREFUSED' ? 'never sent' : 'cut'),
      )
      request.on('response', (response: IncomingMessage) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', () => settle('cut'))
        response.on('end', () =>
          settle(new Answer(response.statusCode!, Buffer.concat(chunks).toString())),
        )
      })
      request.end(bytes)
    })
  }
}

interface Circumstances {
  /** Whether the disk was full at some time between request and answer. */
  readonly isStarved: boolean
  /** Whether the process was killed or told to stop before it answered. */
  readonly isEnding: boolean
}

/**
 * Classifies an answer. An error that the request caused counts as `answered`, and the sender
 * checks it. An error of the server is acceptable only while certain faults are active.
 */
function verdictOn(
  { http, body }: Answer,
  { isStarved, isEnding }: Circumstances,
): 'answered' | 'refused' | 'unknown' | 'unfit' {
  if (http !== 200 && http !== 401) return 'unfit'
  const [error] = (body.errors ?? []).filter(({ family }) => family === 'SERVER')
  if (error === undefined) return 'answered'
  switch (error.errorCode) {
    case 'FAILED_WRITE_REQUEST':
    case 'FAILED_READ_REQUEST':
      if (!isStarved) return 'unfit'
      return error.message.includes('not known whether') ? 'unknown' : 'refused'
    case 'UNEXPECTED_SERVER_ERROR':
      if (error.message.startsWith('Changing:')) return 'refused'
      return isEnding && /^(?:Stopping|Aborted):/.test(error.message) ? 'unknown' : 'unfit'
    case 'INVALID_DATABASE_QUERY':
      return 'answered'
    default:
      return 'unfit'
  }
}
