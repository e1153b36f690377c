/** Tests whose requirements are not met. Node's test runner must skip and count them. */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from './harness.ts'
import { runCommand } from './package/run-command.ts'
import { TestImports } from './requirements.ts'

let folder: string
before(async () => {
  folder = await temporaryFolder()
})
after(() => rm(folder, { recursive: true }))

function write(name: string, ...lines: readonly string[]): string {
  const path = join(folder, name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, lines.join('\n'))
  return path
}

describe('skipped tests', () => {
  test('are counted one by one, and neither they nor their hooks run', async () => {
    write(
      'needy.mjs',
      "import { after, before, beforeEach, describe, it, test } from 'node:test'",
      "const fail = () => { throw new Error('this runs') }",
      'before(fail)',
      'after(fail)',
      "test('one', fail)",
      "test('two', { timeout: 1 }, fail)",
      "describe('suite', { skip: 'as a whole' }, () => {",
      '  beforeEach(fail)',
      "  for (const name of ['three', 'four']) it(name, fail)",
      "  describe('inner', () => { before(fail); test('five', fail) })",
      '})',
    )
    const group = write(
      'group.test.mjs',
      "import { describe, test } from 'node:test'",
      `import { skipTests } from '${new URL('skipped-tests.ts', import.meta.url).href}'`,
      "skipTests('no such tool')",
      "describe('needy.mjs', async () => { await import('./needy.mjs') })",
      "test('runs', () => {})",
    )
    const report = await runCommand(
      process.execPath,
      ['--test', '--test-reporter=tap', group],
      { cwd: folder },
    )
    const skipped = report.matchAll(/ok \d+ - (\S+) # SKIP no such tool$/gm)
    assert.deepEqual(
      Array.from(skipped, ([, name]) => name),
      ['one', 'two', 'three', 'four', 'five'],
      report,
    )
    assert.match(report, /^# tests 6\n(?:.*\n)?# pass 1\n(?:.*\n)*# skipped 5$/m)
  })
})

describe('imports of a test file', () => {
  test('are followed through other modules, except for types and dynamic imports', () => {
    write('tests/a.test.ts', "import assert from 'node:assert'", "import './b.ts'")
    write('tests/b.ts', 'import {', '  c,', "} from './deep/c.ts'")
    write('tests/deep/c.ts', "export { d } from '../d.ts'", "import '../../src/x.ts'")
    write('tests/d.ts', "import type { E } from './e.ts'", "await import('./f.ts')")
    const reached = new TestImports(folder).reachedBy('tests/a.test.ts')
    assert.deepEqual(
      [...reached],
      ['tests/a.test.ts', 'tests/b.ts', 'tests/deep/c.ts', 'tests/d.ts'],
    )
  })

  test('determine whether a file requires pages, nodes or small disks', () => {
    const root = fileURLToPath(new URL('../', import.meta.url))
    const imports = new TestImports(root)
    for (const [file, module] of [
      ['tests/console/data-page.test.ts', 'tests/http/browser.ts'],
      ['tests/cassandra/commands.test.ts', 'tests/cassandra/test-node.ts'],
      ['tests/spec/cassandra.test.ts', 'tests/cassandra/test-node.ts'],
      ['tests/cassandra/node.test.ts', 'tests/cassandra/node.ts'],
      ['tests/faults/full-disk.test.ts', 'tests/faults/small-disk.ts'],
    ] as const)
      assert(imports.reachedBy(file).has(module), file)
    // This test file starts no node of its own, so the node that STELA_TEST_CASSANDRA names
    // suffices.
    const shared = imports.reachedBy('tests/cassandra/commands.test.ts')
    assert(!shared.has('tests/cassandra/node.ts'))
    // The embedded specification must not depend on a node, because it runs on every machine.
    const embedded = imports.reachedBy('tests/spec/embedded.test.ts')
    assert(!embedded.has('tests/cassandra/test-node.ts'))
  })
})
