/**
 * Writes a fixture of the upgrade tests. A checkout of an earlier version writes a data folder, a
 * backup and exports, and this program records its replies.
 *
 *     git worktree add /tmp/stela-0.1 67f3064 && (cd /tmp/stela-0.1 && npm ci)
 *     npx node --disable-warning=ExperimentalWarning \
 *       tests/upgrade/write-folder.ts 0.1 /tmp/stela-0.1
 *
 * 0.1 is commit 67f3064, and 0.2 is commit 266fa66.
 *
 * The program kills the server after the last writes, so the fixture has these writes only in
 * write-ahead logs.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StoryClient, type Access } from './client.ts'
import {
  answersFile,
  exported,
  isVersion,
  pack,
  packedFile,
  storyToken,
  versions,
} from './fixture.ts'
import { lateWrites, questions, writes } from './story.ts'

const [version, checkout] = process.argv.slice(2)
if (!isVersion(version) || checkout === undefined)
  throw new Error(`name one of ${versions.join(', ')}, and a checkout of it`)
const main = ['--disable-warning=ExperimentalWarning', join(checkout, 'src/main.ts')]
const environment = {
  ...process.env,
  STELA_ADMIN_TOKEN: storyToken,
  STELA_TOKEN: storyToken,
}
const [port, adminPort] = [18_181, 18_182]
const place = { url: `http://127.0.0.1:${port}`, adminUrl: `http://127.0.0.1:${adminPort}` }
const home = mkdtempSync(join(tmpdir(), 'stela-upgrade-'))
const dataDir = join(home, 'data')

async function start(): Promise<ChildProcess> {
  const ports = ['--port', String(port), '--admin-port', String(adminPort)]
  const server = spawn(process.execPath, [...main, 'serve', '--data', dataDir, ...ports], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  process.once('exit', () => server.kill('SIGKILL'))
  await once(server.stdout, 'data')
  return server
}

async function end(server: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  server.kill(signal)
  await once(server, 'close')
}

function stela(...words: readonly string[]): void {
  execFileSync(process.execPath, [...main, ...words], { env: environment })
}

let server = await start()
let client = new StoryClient(place, storyToken)
const access: Access = await client.createAccess()
await client.write(writes)
await end(server, 'SIGTERM')

server = await start()
client = new StoryClient(place, storyToken, access.databaseIds)
await client.write(lateWrites)
const folder = join(home, 'written')
await end(server, 'SIGKILL')
cpSync(dataDir, join(folder, 'data'), { recursive: true })

server = await start()
const lines = [JSON.stringify(access)]
for (const question of questions)
  lines.push(JSON.stringify([question, await client.ask(question)]))
mkdirSync(join(folder, 'exports'))
stela('backup', join(folder, 'backup'), '--admin-url', place.adminUrl)
for (const [kind, name] of exported) {
  const out = ['--out', join(folder, 'exports', `${name}.jsonl`)]
  stela('export', `--${kind}`, name, ...out, '--url', place.url)
}
await end(server, 'SIGTERM')

writeFileSync(join(folder, answersFile), lines.join('\n') + '\n')
writeFileSync(packedFile(version), pack(folder))
rmSync(home, { recursive: true })
