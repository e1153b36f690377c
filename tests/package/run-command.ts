/**
 * Runs commands as users type them, with the Node version of the tests, and without settings of the
 * surrounding process.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, dirname } from 'node:path'

export interface Started {
  readonly child: ChildProcess
  /** The output so far. */
  out: string
  err: string
  readonly ended: Promise<number | null>
}

export interface Where {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
}

/**
 * Variables that commands do not inherit. With those of a surrounding `npm test`, npm would run in
 * the folder of that test run.
 */
const notInherited =
  /^(?:STELA_.*|NODE_(?:OPTIONS|TEST_CONTEXT|V8_COVERAGE)|INIT_CWD|npm_(?!config_registry$).*)$/

export function startCommand(
  command: string,
  args: readonly string[],
  { cwd, env = {} }: Where,
): Started {
  const inherited = Object.entries(process.env).filter(([name]) => !notInherited.test(name))
  const path = `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`
  const child = spawn(command, args, {
    cwd,
    env: { ...Object.fromEntries(inherited), ...env, PATH: path },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Starts a process group, so that stopping the group also stops child processes of the command.
    detached: true,
  })
  const started: Started = {
    child,
    out: '',
    err: '',
    ended: once(child, 'close').then(([code]) => code as number | null),
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (started.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (started.err += text))
  return started
}

/** Runs a command and returns its standard output. Throws if the command fails. */
export async function runCommand(
  command: string,
  args: readonly string[],
  where: Where,
): Promise<string> {
  const started = startCommand(command, args, where)
  const code = await started.ended
  if (code !== 0)
    throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${started.err}`)
  return started.out
}

/** Waits for the line that reports a ready server, and returns its URL. */
export async function readyUrl(started: Started): Promise<string> {
  for (;;) {
    const url = /^stela ready (\S+)\n/m.exec(started.out)?.[1]
    if (url !== undefined) return url
    const ended = await Promise.race([once(started.child.stdout!, 'data'), started.ended])
    if (!Array.isArray(ended)) throw new Error(`not ready: ${started.err}`)
  }
}

/** Interrupts the command and its child processes, as Ctrl-C does. */
export async function interrupt({ child, ended }: Started): Promise<void> {
  if (child.exitCode === null) process.kill(-child.pid!, 'SIGINT')
  await ended
}
