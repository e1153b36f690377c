/**
 * `npm run test:cassandra` runs all tests on a real node, including those that `npm test` skips.
 * Tests of clusters come first, then tests of commands and clients. Files run one at a time,
 * because they share keyspaces.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { SharedNode } from './test-node.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

const own = [
  ...globSync('tests/cassandra/*.test.ts', { cwd: root }),
  'tests/spec/cassandra.test.ts',
  ...[
    'bundle',
    'check',
    'differences',
    'emptied',
    'interchange',
    'migrate',
    'reads',
    'repair',
    'scans',
    'statements',
    'study',
    'tables-model',
    'terms',
    'tls',
  ].map((name) => `tests/cassandra/${name}.ts`),
]
const ofAll = globSync('tests/{clients,commands}/*.test.ts', { cwd: root })

const node = await SharedNode.start()
const failed = [await run(own, {}), await run(ofAll, { STELA_TEST_ENGINE: 'cassandra' })]
const complaint = await node?.remove()
if (complaint !== undefined) console.log(`✖ ${complaint}`)
process.exitCode = failed.includes(true) || complaint !== undefined ? 1 : 0

async function run(files: readonly string[], more: object): Promise<boolean> {
  const flags = ['--test', '--test-concurrency=1', '--test-timeout=600000']
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', ...flags, ...files.toSorted()],
    { cwd: root, stdio: 'inherit', env: { ...process.env, ...more } },
  )
  const [code] = (await once(child, 'close')) as [number | null]
  return code !== 0
}
