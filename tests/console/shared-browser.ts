/** One browser for all files of a process: starting one takes longer than most tests. */
import { after } from 'node:test'
import type { Browser } from 'playwright-core'
import type { Config } from '../../src/settings/config.ts'
import { launchBrowser } from '../http/browser.ts'
import { ConsoleWindow } from './console-window.ts'

let launched: Promise<Browser> | undefined
after(async () => {
  await (await launched)?.close()
})

/** On a server of its own. */
export function openConsole(config: Partial<Config> = {}): Promise<ConsoleWindow> {
  launched ??= launchBrowser()
  return ConsoleWindow.open(config, launched)
}
