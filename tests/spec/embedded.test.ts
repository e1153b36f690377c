/** The specification on the embedded engine. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { startServer } from '../harness.ts'
import { areas } from './areas.ts'
import { checkStatements } from './check-statements.ts'

const statements = areas.flatMap((area) => area.statements)

test('statements have unique ids and cite only documented differences', async () => {
  const ids = statements.map(({ id }) => id)
  assert.deepEqual(ids, [...new Set(ids)])
  const page = new URL('../../docs/differences.md', import.meta.url)
  const documented = await readFile(page, 'utf8')
  for (const { id, deviation } of statements)
    if (deviation !== undefined)
      assert(documented.includes(`\n${deviation.difference}. **`), id)
})

checkStatements('embedded', () =>
  Promise.resolve({ start: startServer, close: () => Promise.resolve() }),
)
