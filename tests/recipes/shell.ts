/** Runs shell scripts as a user would, without the environment of a surrounding npm. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

/**
 * Maximum milliseconds of a script. Installing a client may take minutes. A longer time means that
 * the network or the machine is broken.
 */
const timeoutMs = 1_200_000

export interface Shown {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export async function shell(
  script: string,
  cwd: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<Shown> {
  // npm passes its location to scripts in variables. With these variables, a nested npm would
  // install packages in the outer location.
  const inherited = Object.entries(process.env).filter(
    ([variable]) => !/^(?:npm_|INIT_CWD$|STELA_)/.test(variable),
  )
  const child = spawn('bash', ['-e', '-o', 'pipefail', '-c', script], {
    cwd,
    env: { ...Object.fromEntries(inherited), ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
  })
  const ended = once(child, 'close') as Promise<[number | null]>
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    ended,
  ])
  const end = code === null ? `It was stopped after ${timeoutMs / 60_000} minutes.\n` : ''
  return { code, out, err: err + end }
}
