import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { temporaryFolder } from '../harness.ts'
import { makeOnce } from './make-once.ts'

describe('makeOnce', () => {
  let folder: string
  before(async () => {
    folder = await temporaryFolder()
  })
  after(() => rm(folder, { recursive: true }))

  test('runs its function for one of several concurrent calls while the other calls wait', async () => {
    const path = join(folder, 'shared')
    let made = 0
    const make = async (unfinished: string) => {
      made++
      await writeFile(unfinished, 'whole')
    }
    await Promise.all([makeOnce(path, make), makeOnce(path, make), makeOnce(path, make)])
    assert.equal(made, 1)
    assert.equal(await readFile(path, 'utf8'), 'whole')
  })

  test('leaves no files when its function fails, and can be called again', async () => {
    const path = join(folder, 'failed', 'jars')
    const half = async (unfinished: string) => {
      await mkdir(unfinished)
      await writeFile(join(unfinished, 'a.jar'), 'half')
      throw new Error('the network is gone')
    }
    await assert.rejects(makeOnce(path, half), /the network is gone/)
    assert.deepEqual(await readdir(join(folder, 'failed')), [])
    await makeOnce(path, (unfinished) => writeFile(unfinished, 'whole'))
    assert.deepEqual(await readdir(join(folder, 'failed')), ['jars'])
  })

  test('runs its function again after a process died during the first run', async () => {
    const path = join(folder, 'interrupted', 'jars')
    const lock = `${path}.lock`
    await mkdir(lock, { recursive: true })
    await writeFile(join(lock, 'half'), 'half')
    const longAgo = new Date(Date.now() - 3_600_000)
    await utimes(lock, longAgo, longAgo)
    await makeOnce(path, (unfinished) => writeFile(unfinished, 'whole'))
    assert.equal(await readFile(path, 'utf8'), 'whole')
    assert.deepEqual(await readdir(join(folder, 'interrupted')), ['jars'])
  })
})
