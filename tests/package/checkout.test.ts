/** The command `stela` in a checkout: it runs built code, unless the sources have changed. */
import assert from 'node:assert/strict'
import { appendFileSync, cpSync, existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { temporaryFolder } from '../harness.ts'
import { root } from './install-package.ts'
import { interrupt, readyUrl, runCommand, startCommand } from './run-command.ts'

let checkout: string

before(async () => {
  checkout = await temporaryFolder()
  for (const name of ['package.json', 'bin', 'package', 'src', 'build'])
    cpSync(join(root, name), join(checkout, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
})
after(() => rm(checkout, { recursive: true, force: true }))

function stela(...args: string[]) {
  return runCommand(join(checkout, 'bin/stela.js'), args, { cwd: checkout })
}

function build(...args: string[]) {
  return runCommand('npm', ['run', '--silent', 'build:package', '--', ...args], {
    cwd: checkout,
  })
}

test('runs the sources without a build, the build, and the sources again after a change', async () => {
  const version = await stela('--version')
  assert.match(version, /^\d+\.\d+\.\d+\n$/)
  await build()
  assert.equal(await stela('--version'), version)
  writeFileSync(join(checkout, 'dist/main.js'), "console.log('built')")
  assert.equal(await stela('--version'), 'built\n')
  await build('--if-stale')
  assert.equal(await stela('--version'), 'built\n')
  appendFileSync(join(checkout, 'src/limits.ts'), '// changed\n')
  assert.equal(await stela('--version'), version)
  await build('--if-stale')
  assert(existsSync(join(checkout, 'dist/program.js')))
})

test('npx stela serves in the process that signals reach', async () => {
  const words = ['stela', 'serve', '--port', '0', '--admin-port', 'off', '--data', 'data']
  const env = { npm_config_cache: join(checkout, 'cache'), npm_config_offline: 'true' }
  const started = startCommand('npx', words, { cwd: checkout, env })
  const url = await readyUrl(started)
  assert.equal((await fetch(`${url}/stargate/health`)).status, 200)
  assert.doesNotMatch(started.err, /ExperimentalWarning/)
  await interrupt(started)
  await assert.rejects(fetch(url))
})

test('bin/stela.js ends with status 0 when a signal stops its server', async () => {
  const words = ['serve', '--port', '0', '--admin-port', 'off', '--data', 'other']
  const started = startCommand(join(checkout, 'bin/stela.js'), words, { cwd: checkout })
  await readyUrl(started)
  started.child.kill('SIGTERM')
  assert.equal(await started.ended, 0)
})
