/** What generated load and the inventory of loops found. */
import { answersOf, statusesOn, write, type Attack } from './attack.ts'
import { unknownToken } from './hostile-server.ts'
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
]
