/**
 * Runs the examples of docs/guides/test-an-application.md with each test runner that the page names,
 * against a package built from this checkout.
 */
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readBlocks } from './page.ts'
import { shell } from './shell.ts'

const checkout = fileURLToPath(new URL('../../', import.meta.url))
const besides = '@datastax/astra-db-ts@2.3.0 vitest@5.1.0 jest@30.5.2'

/** Runs all examples. Returns a description of the failure, if any. */
export async function followTestSuites(page: string): Promise<string | undefined> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'stela-suites-'))
  const { install, ...others } = Object.fromEntries(readBlocks(page))
  const isRun = ([name]: readonly [string, string]) => name.startsWith('run-')
  const blocks = Object.entries(others)
  for (const [file, text] of blocks.filter((block) => !isRun(block)))
    await writeFile(join(folder.path, file), text)
  const packed = `npm pack --pack-destination '${folder.path}'`
  const steps = [
    [packed, checkout],
    [`${install!}npm install --save-dev ${besides}`, folder.path],
    ...blocks.filter(isRun).map(([, script]) => [script, folder.path] as const),
  ] as const
  for (const [script, where] of steps) {
    const { code, out, err } = await shell(script, where)
    if (code !== 0) return `${script}\n${out}${err}`
  }
  return undefined
}
