/**
 * `npm run cassandra -- --nodes 3 --port 9042` starts one or three nodes for manual tests. Ctrl-C
 * stops them and removes their data.
 */
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { CassandraCluster } from './cluster.ts'
import { startNode } from './node.ts'
import { isFree } from './ports.ts'
import { MissingTool } from './tools.ts'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '1' },
    port: { type: 'string', default: '9042' },
  },
})
const port = Number(values.port)
if (!['1', '3'].includes(values.nodes) || !(port > 0 && port < 65_536)) {
  console.error('usage: npm run cassandra -- [--nodes 1|3] [--port <port>]')
  process.exit(2)
}

try {
  await serve()
} catch (error) {
  console.error(error instanceof MissingTool ? error.message : error)
  process.exitCode = 1
}

async function serve(): Promise<void> {
  if (!(await isFree(port, ['127.0.0.1']))) throw new Error(`port ${port} is taken`)
  const options = { port, durable: true }
  const started =
    values.nodes === '1' ? await startNode(options) : await CassandraCluster.start(options)
  const nodes = started instanceof CassandraCluster ? started.nodes : [started]
  const { contactPoints, user, password, localDatacenter } = started.connect
  console.log(`cassandra ready ${contactPoints.join(',')} port ${port}`)
  console.log(`  user ${user}, password ${password}, datacenter ${localDatacenter}`)
  for (const { folder } of nodes) console.log(`  data and log ${folder}`)
  console.log(`  STELA_TEST_CASSANDRA=127.0.0.1:${port} has tests use it`)
  const asked = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  const died = Promise.race(
    nodes.map(async (node) => {
      await node.ended()
      return node
    }),
  )
  const first = await Promise.race([asked, died])
  if (!Array.isArray(first)) {
    console.error(`Cassandra died. Its log ends with:\n${await first.logTail()}`)
    process.exitCode = 1
  }
  await started.remove()
}
