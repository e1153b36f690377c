/** Runs `stela` commands, each in a process of its own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text as textOf } from 'node:stream/consumers'
import { program, serverEnvironment } from '../server-environment.ts'
import { token } from './life.ts'

/** Milliseconds after which a command counts as hanging. */
const commandMaxMs = 180_000

export interface CommandResult {
  /** The exit code; null after a signal, which also ends a command that hangs. */
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export async function runStela(args: readonly string[]): Promise<CommandResult> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', program, ...args],
    {
      env: { ...serverEnvironment, STELA_TOKEN: token },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: commandMaxMs,
      killSignal: 'SIGKILL',
    },
  )
  const [[code], out, err] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    textOf(child.stdout),
    textOf(child.stderr),
  ])
  return { code, out, err }
}
