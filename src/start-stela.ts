/**
 * `import { startStela } from 'stela'`: a server for a test. It is a process of its own, so a
 * test that blocks its thread cannot block the server, and a server leaves no handles, threads
 * or native modules in the runner. The channel between the two is what it lives by: when the
 * test's process ends, however that happens, the server stops and removes its folder.
 *
 * Nothing of ours but types is imported here: loading it in a test costs next to nothing.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestServerOrder, TestServerReport } from './test-server.ts'

export interface StelaOptions {
  /** Keyspaces to create, besides default_keyspace, which is there. */
  readonly keyspaces?: readonly string[]
  /** The administrator's token; one is made when it is left out. */
  readonly token?: string
  /** Flags of `stela serve` without their dashes: `{ 'page-size': 5, lexical: 'off' }`. */
  readonly settings?: Readonly<Record<string, string | number>>
  /** A folder to use and to keep; without it a temporary one is made, and removed at the end. */
  readonly data?: string
}

export interface Stela extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`: what clients take as the endpoint. */
  readonly url: string
  /** What clients send as the token. It may do everything. */
  readonly token: string
  /** Where the data is. */
  readonly data: string
  /** Stops the server and removes a temporary folder; the second call does nothing. */
  close(): Promise<void>
}

/** What would make the server differ from one test run to the next, or slow it down. */
const notInherited = /^(?:STELA_.*|NODE_OPTIONS|NODE_V8_COVERAGE|NODE_TEST_CONTEXT)$/

/** Starts a server, on a free port. Throws when a setting is wrong, and says which. */
export async function startStela(options: StelaOptions = {}): Promise<Stela> {
  const { keyspaces = [], settings = {}, token = randomBytes(24).toString('hex') } = options
  if (token === '')
    throw new Error('The token is empty. Leave it out, and the server generates one')
  if ('data' in settings)
    throw new Error(
      'Do not pass --data. Set the folder with the option data: startStela({ data })',
    )
  const temporary =
    options.data === undefined ? await mkdtemp(join(tmpdir(), 'stela-')) : undefined
  const data = options.data ?? temporary!
  const flags = { durability: 'relaxed', 'log-level': 'error', 'admin-port': 'off' }
  const child = startChild()
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  try {
    const url = await readyUrl(child, {
      flags: Object.entries({ port: 0, ...flags, ...settings, data }).flatMap(
        ([name, value]) => [`--${name}`, String(value)],
      ),
      keyspaces,
      token,
      temporary,
    })
    // Who forgets to close a server is not kept from ending.
    child.unref()
    child.channel?.unref()
    const close = async (): Promise<void> => {
      child.ref()
      if (child.connected) child.disconnect()
      await ended
      await removeFolder(temporary)
    }
    return { url, token, data, close, [Symbol.asyncDispose]: close }
  } catch (error) {
    child.kill('SIGKILL')
    await removeFolder(temporary)
    throw error
  }
}

function startChild(): ChildProcess {
  const here = import.meta.filename
  const inherited = Object.entries(process.env).filter(([name]) => !notInherited.test(name))
  const script = here.endsWith('.ts') ? 'test-server.ts' : 'test-server.js'
  return fork(join(dirname(here), script), [], {
    // With room for what loading leaves behind, a start collects no garbage.
    execArgv: ['--disable-warning=ExperimentalWarning', '--min-semi-space-size=32'],
    env: {
      NODE_COMPILE_CACHE: join(dirname(here), '..', 'node_modules', '.cache', 'stela'),
      ...Object.fromEntries(inherited),
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
}

function readyUrl(child: ChildProcess, order: TestServerOrder): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      reject(
        new Error(`The server stopped before it was ready: ${signal ?? `code ${code}`}`),
      )
    })
    child.once('message', (report: TestServerReport) => {
      if ('url' in report) resolve(report.url)
      else reject(new Error(report.problem))
    })
    child.send(order)
  })
}

/** The server removes it, too; but it may have been killed. */
async function removeFolder(temporary: string | undefined): Promise<void> {
  if (temporary !== undefined) await rm(temporary, { recursive: true, force: true })
}
