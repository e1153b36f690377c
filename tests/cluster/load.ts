/**
 * Clients that write documents through both servers and read them back. They record the replies, so
 * the possible states of each document are always known.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { CommandAnswer } from '../harness.ts'
import { Random } from '../model/random.ts'
import type { Place, TwoServers } from './two-servers.ts'

/** A command that failed, or whose result is unknown. */
export interface FailedCommand {
  readonly codes: readonly string[]
  readonly text: string
}

/** Counter values that a document may have; undefined: the document may be absent. */
type Possible = Set<number | undefined>

const clients = 6

export class Load {
  readonly #servers: TwoServers
  readonly #collection: string
  readonly #random: Random
  readonly #documents = new Map<string, Possible>()
  readonly failures: FailedCommand[] = []
  /** Documents that were read in an impossible state. */
  readonly wrong: string[] = []
  answered = 0
  #isStopping = false
  #running: Promise<unknown> | undefined

  constructor(servers: TwoServers, collection: string, seed: number) {
    this.#servers = servers
    this.#collection = collection
    this.#random = new Random(seed)
  }

  start(): void {
    this.#isStopping = false
    this.#running = Promise.all(Array.from({ length: clients }, () => this.#runClient()))
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#running
  }

  /** Resolves after `count` more replies; rejects when all servers have ended. */
  async answersMore(count: number): Promise<void> {
    const until = this.answered + count
    while (this.answered < until) {
      const ended = this.#servers.allEnded()
      if (ended !== undefined) throw new Error(`both servers have ended:\n${ended}`)
      await sleep(20)
    }
  }

  /** Failures since the last call. */
  takeFailures(): readonly FailedCommand[] {
    return this.failures.splice(0)
  }

  /** Reads all documents through one server. Returns the number of documents. */
  async verify(place: Place): Promise<number> {
    for (const id of this.#documents.keys()) await this.#check(id, place)
    return this.#documents.size
  }

  async #runClient(): Promise<void> {
    while (!this.#isStopping) {
      const id = `${this.#documents.size}`
      const possible: Possible = new Set([undefined])
      this.#documents.set(id, possible)
      const document = { _id: id, n: 0 }
      await this.#write(possible, { insertOne: { document } }, () => 0)
      for (let step = this.#random.integer(0, 4); step > 0; step--) {
        const updateOne = { filter: { _id: id }, update: { $inc: { n: 1 } } }
        await this.#write(possible, { updateOne }, (n) => (n === undefined ? n : n + 1))
        await this.#check(id, this.#somewhere())
      }
    }
  }

  /**
   * Sends a write, and updates the possible values. `change` maps a possible value of the counter
   * to its value after the write.
   */
  async #write(
    possible: Possible,
    body: object,
    change: (n: number | undefined) => number | undefined,
  ): Promise<void> {
    const after = Array.from(possible, change)
    const answer = await this.#send(this.#somewhere(), body)
    // A failed command may have been executed, so the values before the command stay possible.
    if (answer !== undefined) possible.clear()
    for (const n of after) possible.add(n)
  }

  async #check(id: string, place: Place): Promise<void> {
    const possible = this.#documents.get(id)!
    const answer = await this.#send(place, { findOne: { filter: { _id: id } } })
    if (answer === undefined) return
    const n = answer.body.data!.document?.['n'] as number | undefined
    if (!possible.has(n))
      this.wrong.push(`${id} has ${n}, and not ${[...possible].join(' or ')}`)
  }

  #somewhere(): Place {
    return this.#random.pick([0, 1])
  }

  /** Sends a command. Returns undefined if the command failed. */
  async #send(place: Place, body: object): Promise<CommandAnswer | undefined> {
    const path = `/default_keyspace/${this.#collection}`
    try {
      const answer = await this.#servers.at(place).command(path, body)
      if (answer.codes.length === 0) {
        this.answered++
        return answer
      }
      this.failures.push({ codes: answer.codes, text: answer.text })
    } catch (error) {
      this.failures.push({ codes: ['no answer'], text: String(error) })
      await sleep(20)
    }
    return undefined
  }
}
