/** Runs the last stage of deploy/Dockerfile: the command of the image and its health check. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { findPort } from '../cassandra/ports.ts'
import { BareRoot, readStages } from './bare-root.ts'
import { root } from './install-package.ts'

const token = 'secret'

/**
 * Runs the image. Throws if it does not serve as configured. `built` is the working directory of
 * the first stage. `use` is called while the image serves.
 */
export async function tryImage(
  folder: string,
  built: string,
  use?: (url: string, token: string) => Promise<void>,
): Promise<void> {
  const [, running] = readStages(join(root, 'deploy/Dockerfile'))
  const image = new BareRoot(folder, running!, built)
  const port = String(await findPort(['127.0.0.1']))
  const environment = { STELA_PORT: port, STELA_ADMIN_TOKEN: token }
  assert.equal(await image.healthCheck(environment), 1)
  const child = image.start(environment)
  try {
    const [line] = (await once(child.stdout!, 'data')) as [Buffer]
    const url = `http://127.0.0.1:${port}`
    assert.equal(String(line), `stela ready ${url}\n`)
    assert.equal(await image.healthCheck(environment), 0)
    const data = statSync(join(folder, 'data/catalog.db'))
    if (process.getuid!() === 0) assert.equal(data.uid, 1000)
    await use?.(url, token)
  } finally {
    child.kill('SIGTERM')
    await once(child, 'close')
  }
  assert.equal(child.exitCode, 0)
}
