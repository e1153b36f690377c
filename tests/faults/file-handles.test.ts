/**
 * A server that runs out of file handles reports this cause, and does not report a failing disk.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../harness.ts'

test('running out of file handles is not reported as a failing disk', async () => {
  const script = fileURLToPath(new URL('few-handles.ts', import.meta.url))
  const dataDir = await temporaryFolder()
  const words = [process.execPath, '--disable-warning=ExperimentalWarning', script, dataDir]
  try {
    const [error, out, err] = await new Promise<[Error | null, string, string]>(
      (resolve) => {
        execFile('sh', ['-c', 'ulimit -n 256; exec "$0" "$@"', ...words], (...ran) =>
          resolve(ran),
        )
      },
    )
    assert.equal(error, null, err)
    const met = JSON.parse(out) as string[]
    const refused = met.filter((outcome) => outcome !== 'done')
    assert(refused.length > 0 && refused.length < met.length, out)
    for (const message of refused)
      assert.match(
        message,
        /^this process has too many open files\. Raise the limit \(ulimit -n\) and restart/,
      )
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
})
