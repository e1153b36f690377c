/**
 * A client that attacks the server with expensive and useless requests, replies that it never
 * reads, and bodies that never end. The server must survive and keep answering. The other clients
 * check their own answers.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../faults/random.ts'
import { headOf, requestOf } from '../hostile/requests.ts'
import { sharedCollections } from './collection-shape.ts'
import type { Host } from './host.ts'
import type { Life } from './life.ts'

const account = { name: 'hostile', password: 'of no good' }

/** Server flags that give the client an account. */
export const hostileFlags = ['--users', `${account.name}:${account.password}`] as const

const token = ['Cassandra', account.name, account.password]
  .map((part, i) => (i === 0 ? part : Buffer.from(part).toString('base64')))
  .join(':')

const unknownToken = 'Stela:nobody:knows-this-token'

/** Maximum milliseconds for which the client holds a connection. */
const holdMaxMs = 3_000

export class HostileClient {
  readonly #host: Host
  readonly #random: Random

  constructor(host: Host, random: Random) {
    this.#host = host
    this.#random = random
  }

  async run(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const life = await Promise.race([this.#host.serving(), this.#host.broken])
      await this.#attack(life)
      await delay(this.#random.below(200))
    }
  }

  async #attack(life: Life): Promise<void> {
    const { port } = new URL(life.url)
    // The server locks out addresses that send invalid tokens, so this client connects from its own
    // address.
    const socket = connect({
      port: Number(port),
      host: '127.0.0.1',
      localAddress: '127.0.0.66',
    })
    socket.on('error', () => undefined)
    try {
      await once(socket, 'connect')
    } catch {
      return
    }
    this.#host.tally.hostileRequests++
    await this.#send(socket)
    socket.destroy()
  }

  async #send(socket: Socket): Promise<void> {
    const random = this.#random
    const path = `/default_keyspace/${random.pick(sharedCollections).name}`
    const give = (command: object) =>
      requestOf(token, path, Buffer.from(JSON.stringify(command)))
    switch (random.below(6)) {
      case 0:
        // Replies that are never read.
        socket.pause()
        socket.write(Buffer.concat(Array<Buffer>(200).fill(give({ find: {} }))))
        return this.#hold(socket)
      case 1:
        // A body that never ends.
        socket.write(headOf(random.oneIn(2) ? token : unknownToken, path, 19_500_000))
        socket.write(Buffer.alloc(random.below(19_000_000), ' '))
        return this.#hold(socket)
      case 2:
        // A body with millions of values.
        socket.write(
          requestOf(
            random.oneIn(2) ? token : unknownToken,
            path,
            Buffer.from(`[${'{},'.repeat(random.below(6_000_000))}{}]`),
          ),
        )
        return this.#hold(socket)
      case 3: {
        const text = 'some words '.repeat(random.below(1_000_000))
        const clause = random.oneIn(2)
          ? { filter: { $lexical: { $match: text } } }
          : { sort: { $lexical: text } }
        socket.write(give({ find: clause }))
        return this.#hold(socket)
      }
      case 4: {
        const values = Array.from({ length: 97 }, (_, n) => `${n}`)
        const count = give({ countDocuments: { filter: { kind: { $nin: values } } } })
        socket.write(Buffer.concat(Array<Buffer>(24).fill(count)))
        return this.#hold(socket)
      }
      default:
        socket.write(
          give({ find: { options: { pageState: 'W10'.repeat(random.below(5_000_000)) } } }),
        )
        return this.#hold(socket)
    }
  }

  /** Holds the connection until the server closes it, or for a random time. */
  async #hold(socket: Socket): Promise<void> {
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    await Promise.race([
      closed,
      delay(this.#random.below(holdMaxMs), undefined, { ref: false }),
    ])
  }
}
