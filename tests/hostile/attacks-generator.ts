/** What generated load and the inventory of loops found. */
import { answersOf, statusesOn, write, type Answers, type Attack } from './attack.ts'
import { hostileToken, unknownToken, type HostileServer } from './hostile-server.ts'
import { requestOf } from './requests.ts'

/** As long as headers may be. */
const padding = ' '.repeat(15_000)

export const generatorAttacks: readonly Attack[] = [
  {
    name: 'accepted-encodings',
    request:
      '20 requests with `Accept-Encoding: br;q=a` and 15 KB of spaces, unknown token',
    server: { flags: ['--compression', 'on'] },
    async run(server) {
      const request = requestOf(
        unknownToken,
        '/default_keyspace/target',
        Buffer.from('{}'),
        [`Accept-Encoding: br;q=a${padding}b`],
      )
      const one = async () => {
        const socket = await server.connect()
        const statuses = statusesOn(socket, 1)
        await write(socket, request)
        const [status] = await statuses
        socket.destroy()
        return status!
      }
      return answersOf(await Promise.all(Array.from({ length: 20 }, one)))
    },
  },
  ...(['l', 's', 'm'] as const).map((column): Attack => ({
    name: `long-cell-${column}`,
    request: `insertOne of a row with a ${{ l: 'list', s: 'set', m: 'map' }[column]} of 400 000 numbers, then $set and $pullAll`,
    prepare: createRows,
    async run(server) {
      const value = column === 'm' ? pairs(400_000) : numbers(400_000)
      const removed = column === 'm' ? pairs(400_000).map(([key]) => key) : value
      const change = (update: object) => ({ updateOne: { filter: { id: 'a' }, update } })
      const answers: (number | 'none' | 'unread')[] = []
      for (const command of [
        { insertOne: { document: { id: 'a', [column]: value } } },
        change({ $set: { [column]: value } }),
        change({ $pullAll: { [column]: removed } }),
      ])
        answers.push(...(await sendOnce(server, command)).keys())
      return answersOf(answers)
    },
  })),
]

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
}

function pairs(count: number): [number, number][] {
  return numbers(count).map((n) => [n, n])
}

async function createRows(server: HostileServer): Promise<void> {
  await server.command('/default_keyspace', {
    createTable: {
      name: 'target',
      definition: {
        columns: {
          id: 'text',
          l: { type: 'list', valueType: 'int' },
          s: { type: 'set', valueType: 'int' },
          m: { type: 'map', keyType: 'int', valueType: 'int' },
        },
        primaryKey: 'id',
      },
    },
  })
}

/** One command on a connection of its own. */
async function sendOnce(server: HostileServer, command: object): Promise<Answers> {
  const socket = await server.connect()
  const statuses = statusesOn(socket, 1)
  const body = Buffer.from(JSON.stringify(command))
  await write(socket, requestOf(hostileToken, '/default_keyspace/target', body))
  const answers = answersOf(await statuses)
  socket.destroy()
  return answers
}
