/** `stela demo` with the built-in model: the commands that it prints work. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { test } from 'node:test'
import { temporaryFolder } from '../harness.ts'
import { interrupt, readyUrl, startCommand } from '../package/run-command.ts'
import { program } from '../server-environment.ts'

test('stela demo prints three commands that return results, and removes its files when it ends', async () => {
  const folder = await temporaryFolder()
  const demo = startCommand(
    'node',
    ['--disable-warning=ExperimentalWarning', program, 'demo', '--port', '0'],
    { cwd: folder, env: { TMPDIR: folder } },
  )
  try {
    await readyUrl(demo)
    const shown = demo.err.match(/^curl [^]*?'\{.*\}'$/gm)!
    const [meaning, fields, rows] = shown.map((command) => {
      const answer = execFileSync('sh', ['-c', command], { encoding: 'utf8' })
      const { data } = JSON.parse(answer) as { data: { documents: { _id?: string }[] } }
      return data.documents
    })
    assert.equal(shown.length, 3)
    assert.equal(meaning![0]!._id, 'Reading Room')
    assert.deepEqual(
      fields!.map(({ _id }) => _id),
      ['Harbour Market', 'Chestnut Park'],
    )
    assert.equal(rows!.length, 3)
  } finally {
    await interrupt(demo)
  }
  // Only files of Stela count: the runtime of the model leaves files of its own.
  const left = readdirSync(folder).filter((name) => name.startsWith('stela'))
  assert.deepEqual(left, [])
  await rm(folder, { recursive: true })
})

test('stela demo rejects a port that is in use, and says what to do', async () => {
  const first = startCommand('node', [program, 'demo', '--port', '0'], { cwd: '/' })
  try {
    const { port } = new URL(await readyUrl(first))
    const second = startCommand('node', [program, 'demo', '--port', port], { cwd: '/' })
    assert.equal(await second.ended, 1)
    assert.match(second.err, new RegExp(`port ${port} .* in use.*--port`))
  } finally {
    await interrupt(first)
  }
})
