/**
 * One browser with one page for all files of a process, because opening a browser or a page
 * takes longer than most tests.
 */
import { after } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { Config } from '../../src/settings/config.ts'
import { launchBrowser, patienceMs } from '../http/browser.ts'
import { ConsoleWindow } from './console-window.ts'

let launched: Promise<Browser> | undefined
let shared: Promise<Page> | undefined
after(async () => {
  await (await launched)?.close()
})

async function newPage(browser: Browser): Promise<Page> {
  const page = await browser.newPage()
  page.setDefaultTimeout(patienceMs)
  return page
}

/** Opens the console on a server of its own. */
export function openConsole(config: Partial<Config> = {}): Promise<ConsoleWindow> {
  launched ??= launchBrowser()
  shared ??= launched.then(newPage)
  return ConsoleWindow.open(config, shared)
}
