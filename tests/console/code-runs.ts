/** Runs code that the console shows. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export async function runProgram(
  program: string,
  args: readonly string[],
  cwd: string,
  token: string,
): Promise<Ran> {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, STELA_TOKEN: token, PYTHONIOENCODING: 'utf-8' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 300_000,
  })
  const ended = once(child, 'close') as Promise<[number | null]>
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    ended,
  ])
  return { code, out, err }
}

/** Separates the outputs of two programs. */
export const separator = '\n=== next ===\n'
