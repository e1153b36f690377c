/** The lines with which a server at a terminal invites to its console. */
import { isatty } from 'node:tty'
import { fixedLimits } from '../limits.ts'
import type { Listening } from '../server.ts'
import type { Config } from '../settings/config.ts'

/**
 * The lines, or an empty text if standard error is not a terminal: a sign-in link must not get into
 * log files.
 */
export function consoleText(
  { url, createSignInLink }: Listening,
  { console }: Pick<Config, 'console'>,
): string {
  if (!console || !isatty(2)) return ''
  if (createSignInLink === undefined)
    return `\nOpen the console, and sign in with a token: ${url}/console\n\n`
  const minutes = fixedLimits.signInCodeMs / 60_000
  return `
Open the console. This link signs you in once, within ${minutes} minutes:

  ${createSignInLink()}

`
}
