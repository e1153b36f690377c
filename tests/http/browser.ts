/** A real browser, for behaviour that tests can observe only in a browser. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium, type Browser } from 'playwright-core'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** Path of the browser: STELA_TEST_BROWSER or the path of an installed browser. */
const browserFile =
  process.env['STELA_TEST_BROWSER'] ??
  names
    .flatMap((name) => process.env['PATH']!.split(delimiter).map((dir) => join(dir, name)))
    .find(isProgram)

/** The reason to skip tests when no browser is installed; otherwise undefined. */
export const missingBrowser =
  browserFile === undefined
    ? 'Pages need Chromium: apt-get install chromium; or name one, STELA_TEST_BROWSER=/path/to/it'
    : undefined

/**
 * Maximum wait for an event, in milliseconds. It is so long that only a failed test reaches it,
 * even on a slow machine.
 */
export const patienceMs = 180_000

export function launchBrowser(): Promise<Browser> {
  if (browserFile === undefined) throw new Error(missingBrowser)
  return chromium.launch({
    executablePath: browserFile,
    timeout: patienceMs,
    // Disables the sandbox, because it does not work for root and in most containers, and the pages
    // are our own. Disables the GPU process, because rendering in software then takes an eighth of
    // the CPU time.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  })
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
