/**
 * Reads the processor time of a server's event-loop turns, which turn-meter.ts measures in the
 * server.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { collectFileOf, type Turns } from './turn-meter.ts'

const meter = pathToFileURL(fileURLToPath(new URL('./turn-meter.ts', import.meta.url))).href

/** Environment variables with which a server writes its turn times to `file`. */
export function turnEnvironment(file: string): Record<string, string> {
  return {
    NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import ${meter}`,
    STELA_TEST_TURNS: file,
  }
}

/**
 * Returns the figures since the last call and resets them. Waits until the server has completed a
 * turn. Rejects if the process has ended.
 */
export async function takeTurns(
  pid: number,
  file: string,
  collectGarbage = false,
): Promise<Turns> {
  if (collectGarbage) writeFileSync(collectFileOf(file), '')
  const before = reportIn(file)?.report ?? 0
  process.kill(pid, 'SIGUSR2')
  for (;;) {
    const turns = reportIn(file)
    if (turns !== undefined && turns.report > before) return turns
    process.kill(pid, 0)
    await pause(5)
  }
}

function reportIn(file: string): Turns | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Turns
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
