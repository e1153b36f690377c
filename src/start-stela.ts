/**
 * `import { startStela } from 'stela'`: starts a server for a test. The server is a separate
 * process, so that a test that blocks its thread cannot block the server, and so that the server
 * leaves no handles, threads or native modules in the test runner. When the test's process ends,
 * for whatever reason, the IPC channel closes. The server then stops and removes its folder.
 *
 * This module imports only types of the server, so that tests load it at nearly no cost.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestServerOrder, TestServerReport } from './test-server.ts'

export interface StelaOptions {
  /** Keyspaces to create in addition to default_keyspace. */
  readonly keyspaces?: readonly string[]
  /** Administrator token; default: a generated one. */
  readonly token?: string
  /** Flags of `stela serve` without their dashes: `{ 'page-size': 5, lexical: 'off' }`. */
  readonly settings?: Readonly<Record<string, string | number>>
  /** Data folder, which is kept; default: a temporary folder, which is removed at the end. */
  readonly data?: string
}

export interface Stela extends AsyncDisposable {
  /** The endpoint for clients: `http://127.0.0.1:<port>`. */
  readonly url: string
  /** The administrator token, for clients. */
  readonly token: string
  /** The data folder. */
  readonly data: string
  /** Stops the server and removes its folder if it is temporary. A second call does nothing. */
  close(): Promise<void>
}

/**
 * Environment variables that would slow the server down or make its behaviour depend on the
 * environment of the test.
 */
const notInherited = /^(?:STELA_.*|NODE_OPTIONS|NODE_V8_COVERAGE|NODE_TEST_CONTEXT)$/

/** Starts a server on a free port. Throws an error that names an invalid setting. */
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
    // A server that a test does not close must not keep the test's process alive.
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
    // Loading modules produces less garbage than a semi-space of this size holds, so no garbage
    // collection runs during the start.
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

/**
 * Removes a temporary folder. A server that stops removes its own folder; this call is for a server
 * that was killed.
 */
async function removeFolder(temporary: string | undefined): Promise<void> {
  if (temporary !== undefined) await rm(temporary, { recursive: true, force: true })
}
