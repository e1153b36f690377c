/**
 * Documents for which all clients compete: a counter, and prizes. A prize is an id that only one
 * client can insert.
 */
import { fromPlain } from '../../src/json/plain.ts'
import type { JsonObject } from '../../src/json/value.ts'
import { stateOf, type DocumentState } from './document-book.ts'
import type { Line } from './line.ts'
import { Unexplained } from './unexplained.ts'

const path = '/default_keyspace/plain'
const counterId = 'counter'

/** Number of prizes that are open at the same time. */
const prizesOpen = 3

interface Prize {
  /** The client whose insert of the prize was acknowledged. */
  winner: number | undefined
  /** Clients whose insert of the prize got no answer. */
  readonly maybe: Set<number>
  /** Whether an answer stated that the id of the prize exists. */
  isTaken: boolean
  readonly tried: Set<number>
}

export class Contest {
  /** Number of acknowledged increments, and number of increments without an answer. */
  #counted = 0
  #maybe = 0
  readonly #seen = new Set<number>()
  readonly #prizes = new Map<number, Prize>()
  readonly #clients: number

  constructor(clients: number) {
    this.#clients = clients
  }

  async prepare(line: Line): Promise<void> {
    const command = { insertOne: { document: { _id: counterId, n: 0 } } }
    const told = await line.send(path, command)
    if (told.kind !== 'answered' || told.answer.codes.length > 0)
      throw new Unexplained('no counter to begin with', { command, answer: told })
  }

  /** Adds one to the counter. Every acknowledged increment must return a different number. */
  async increment(line: Line): Promise<void> {
    const command = {
      findOneAndUpdate: {
        filter: { _id: counterId },
        update: { $inc: { n: 1 } },
        options: { returnDocument: 'after' },
      },
    }
    const leastBefore = this.#counted
    this.#maybe++
    const told = await line.send(path, command)
    if (told.kind === 'lost') return
    this.#maybe--
    if (told.kind === 'refused') return
    const n = told.answer.body.data?.document?.['n']
    this.#counted++
    const isNew = typeof n === 'number' && !this.#seen.has(n)
    if (!isNew || n <= leastBefore || n > this.#counted + this.#maybe)
      throw new Unexplained('a number that was given out, or out of bounds', {
        command,
        answer: told.answer.text,
        expected: `${leastBefore + 1} to ${this.#counted + this.#maybe}`,
      })
    this.#seen.add(n)
  }

  async readCounter(line: Line): Promise<void> {
    const command = { findOne: { filter: { _id: counterId } } }
    const least = this.#counted
    const answer = await line.ask(path, command)
    this.#checkCounter(answer.body.data?.document?.['n'], least, command)
  }

  /** Inserts a document that other clients also try to insert. */
  async tryPrize(line: Line, client: number): Promise<void> {
    const number = this.#openPrize(client)
    const prize = this.#prizes.get(number)!
    prize.tried.add(client)
    const command = { insertOne: { document: prizeDocument(number, client) } }
    prize.maybe.add(client)
    const told = await line.send(path, command)
    if (told.kind === 'lost') return
    prize.maybe.delete(client)
    if (told.kind === 'refused') return
    const { codes, text } = told.answer
    if (codes.length === 0 && prize.winner === undefined) prize.winner = client
    else if (codes.join() === 'DOCUMENT_ALREADY_EXISTS') prize.isTaken = true
    else
      throw new Unexplained(`prize ${number} was won twice, or neither won nor lost`, {
        command,
        answer: text,
        expected: { winner: prize.winner },
      })
  }

  /** Removes the contested documents from `found` and checks them. */
  verify(found: Map<string, DocumentState>): void {
    const counter = found.get(`"${counterId}"`)
    const command = { find: {} }
    this.#checkCounter(counter?.document.get('n'), this.#counted, command)
    // The counter shows how many increments without an answer took effect.
    this.#counted = counter!.document.get('n') as number
    this.#maybe = 0
    found.delete(`"${counterId}"`)
    for (const [number, prize] of this.#prizes) {
      const key = `"prize-${number}"`
      const state = found.get(key)
      found.delete(key)
      const winner = state?.document.get('winner') as number | undefined
      const possible = prize.winner === undefined ? [...prize.maybe] : [prize.winner]
      const mayBeOpen = prize.winner === undefined && !prize.isTaken
      if (winner === undefined ? !mayBeOpen : !possible.includes(winner))
        throw new Unexplained(
          `${key} has the wrong winner`,
          { answer: state?.text ?? 'absent', expected: { possible, mayBeOpen } },
          winner === undefined ? 'lost' : 'unexplained',
        )
      prize.maybe.clear()
      if (winner !== undefined) {
        if (
          state!.text !==
          stateOf(fromPlain(prizeDocument(number, winner)) as JsonObject).text
        )
          throw new Unexplained(`${key} is something else`, { answer: state!.text })
        prize.winner = winner
        prize.isTaken = true
      }
    }
  }

  #checkCounter(n: unknown, least: number, command: object): void {
    const most = this.#counted + this.#maybe
    if (typeof n !== 'number' || n < least || n > most)
      throw new Unexplained(
        'the counter is out of bounds',
        { command, answer: n, expected: `${least} to ${most}` },
        typeof n === 'number' && n > most ? 'unexplained' : 'lost',
      )
  }

  /**
   * The first prize that this client has not tried. Older prizes stay open until all clients have
   * tried them.
   */
  #openPrize(client: number): number {
    const last = this.#prizes.size
    for (let number = Math.max(0, last - prizesOpen); number < last; number++) {
      const { tried } = this.#prizes.get(number)!
      if (!tried.has(client) && tried.size < this.#clients) return number
    }
    this.#prizes.set(last, {
      winner: undefined,
      maybe: new Set(),
      isTaken: false,
      tried: new Set(),
    })
    return last
  }
}

function prizeDocument(number: number, winner: number): object {
  return { _id: `prize-${number}`, owner: -2, winner }
}
