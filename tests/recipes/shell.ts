/** Scripts as a person would paste them, outside of any npm that runs this. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

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
  // npm tells its scripts where it runs, and an npm that they start would install there.
  const inherited = Object.entries(process.env).filter(
    ([variable]) => !/^(?:npm_|INIT_CWD$|STELA_)/.test(variable),
  )
  const child = spawn('bash', ['-e', '-o', 'pipefail', '-c', script], {
    cwd,
    env: { ...Object.fromEntries(inherited), ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 600_000,
  })
  const ended = once(child, 'close') as Promise<[number | null]>
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    ended,
  ])
  return { code, out, err }
}
