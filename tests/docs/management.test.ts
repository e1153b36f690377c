/** Sends the examples of the management page to a server, one after the other. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { startServer, testToken } from '../harness.ts'

const page = readFileSync(
  new URL('../../docs/reference/management.md', import.meta.url),
  'utf8',
)
const example = /`(GET|POST) (\/v2\S*)`\n\n```json\n([^`]*)```(?:\n\n```json\n([^`]*)```)?/g

/** Replaces values that differ in each run: ids, times, secrets and the port. */
function anonymous(json: string): string {
  return JSON.stringify(JSON.parse(json))
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|<org>|<id>/g, '…')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…')
    .replace(/\b(?:[0-9a-f]{64}|[0-9a-f]{24})\b/g, '…')
    .replace(/127\.0\.0\.1:\d+/g, '…')
}

test('the examples of management.md have the documented replies', async () => {
  const server = await startServer({ adminPort: 0 })
  const known = { org: '', id: '' }
  try {
    const examples = [...page.matchAll(example)]
    for (const [, method, path, first, second] of examples) {
      const body = first!.replaceAll('<org>', known.org).replaceAll('<id>', known.id)
      const response = await fetch(server.adminUrl + path!, {
        method: method!,
        headers: { Token: testToken, 'Content-Type': 'application/json' },
        ...(second !== undefined && { body }),
      })
      const text = await response.text()
      assert.equal(anonymous(text), anonymous(second ?? first!), path)
      const { id = '' } = JSON.parse(text) as { id?: string }
      if (path === '/v2/currentOrg') known.org = id
      if (path === '/v2/databases') known.id = id
    }
    assert.equal(examples.length, 5)
    assert.equal(page.match(/```json/g)!.length, 8, 'every example is run')
  } finally {
    await server.close()
  }
})
