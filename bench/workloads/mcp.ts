import { join } from 'node:path'
import { requestBytes } from '../client.ts'
import { collectionPath, copyFolder, prepareDataset } from '../dataset.ts'
import { Picks } from '../documents.ts'
import { Stela, token } from '../processes.ts'
import { decimal, short, whole } from '../report.ts'
import type { Figure } from '../run.ts'
import { askEach, overHttp } from '../served.ts'
import { ratePerSecond, takeTurns } from '../turns.ts'
import type { Study, StudySettings } from './study.ts'

/** Number of distinct requests, which are repeated in rotation. */
const requestCount = 500

interface Call {
  readonly says: string
  readonly command: string
  readonly fields: (picks: Picks) => string
}

const calls: readonly Call[] = [
  {
    says: 'findOne by _id',
    command: 'findOne',
    fields: (picks) => `"filter":{"_id":"${picks.id()}"}`,
  },
  {
    says: 'find 20 by an indexed field',
    command: 'find',
    fields: (picks) => `"filter":{"city":"${picks.city()}"},"options":{"limit":20}`,
  },
]

export const mcp: Study = {
  name: 'mcp',
  says: 'tool calls of assistants, compared with commands',
  size: 10_000,

  async run(settings) {
    const { folder, keepDir, size, seed, progress, profileDir } = settings
    const dataset = await prepareDataset(keepDir ?? folder, size, seed, progress)
    const served = join(folder, 'served-tools')
    copyFolder(dataset.folder, served)
    const server = await Stela.start(served, { profileDir })
    try {
      const rows: string[][] = []
      const figures: Figure[] = []
      for (const connections of settings.connections)
        for (const call of calls) {
          progress(`${call.says}, connections: ${connections}`)
          const { row, ratio } = await compare(server.port, call, connections, settings)
          rows.push(row)
          const what = `${call.says}, connections: ${connections}, as a tool`
          figures.push({ what, value: 100 * ratio, unit: '% of its rate', min: 50 })
        }
      const head = ['what', 'connections', 'commands/s', 'p50 ms', 'tools/s', 'p50 ms']
      const table = { title: 'Round trips', head: [...head, 'ratio'], rows }
      return { tables: [table], figures }
    } finally {
      await server.stop()
    }
  },
}

async function compare(
  port: number,
  { says, command, fields }: Call,
  connections: number,
  { size, seed, seconds }: StudySettings,
): Promise<{ readonly row: string[]; readonly ratio: number }> {
  const picks = new Picks(seed, size)
  const given = Array.from({ length: requestCount }, () => fields(picks))
  const [, , keyspace, collection] = collectionPath.split('/')
  const place = `"keyspace":"${keyspace!}","collection":"${collection!}"`
  const plain = given.map((each) =>
    requestBytes(collectionPath, token, `{"${command}":{${each}}}`),
  )
  const wrapped = given.map((each) =>
    requestBytes(
      '/v1/mcp',
      token,
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${command}",` +
        `"arguments":{${place},${each}}}}`,
    ),
  )
  for (const reply of await askEach(port, wrapped.slice(0, 1)))
    if (!reply.includes('"structuredContent"')) throw new Error(`refused: ${reply}`)
  const commands = await overHttp('commands', port, connections, plain)
  const tools = await overHttp('tools', port, connections, wrapped)
  try {
    const [one, other] = await takeTurns([commands, tools], seconds)
    const rates = [ratePerSecond(one!), ratePerSecond(other!)] as const
    const ratio = rates[1] / rates[0]
    const row = [
      says,
      whole(connections),
      ...[whole(rates[0]), short(one!.latencies.quantile(0.5))],
      ...[whole(rates[1]), short(other!.latencies.quantile(0.5))],
      decimal(ratio),
    ]
    return { row, ratio }
  } finally {
    commands.close()
    tools.close()
  }
}
