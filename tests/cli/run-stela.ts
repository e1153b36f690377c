/** Runs the command line as a separate process. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { testToken } from '../harness.ts'
import { program, serverEnvironment } from '../server-environment.ts'

export interface Ran {
  readonly code: number | null
  readonly out: Buffer
  readonly err: string
}

export interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ran>
}

export function startStela(
  args: readonly string[],
  { input, token = testToken }: { input?: Buffer | string; token?: string } = {},
): Running {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', program, ...args],
    { env: { ...serverEnvironment, STELA_TOKEN: token } },
  )
  const out: Buffer[] = []
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const ended = once(child, 'close').then(([code]) => ({
    code: code as number | null,
    out: Buffer.concat(out),
    err,
  }))
  return { child, ended }
}

export function runStela(
  args: readonly string[],
  options: { input?: Buffer | string; token?: string } = {},
): Promise<Ran> {
  return startStela(args, options).ended
}
