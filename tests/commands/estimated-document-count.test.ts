import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Collections, numbered } from './collections.ts'

describe('estimatedDocumentCount', () => {
  const collections = new Collections()

  test('returns approximately the number of documents', async () => {
    const books = await collections.create()
    assert.deepEqual((await books.run({ estimatedDocumentCount: {} })).status, { count: 0 })
    await books.insert(...numbered(50))
    const { status } = await books.run({ estimatedDocumentCount: {} })
    assert(Math.abs((status!['count'] as number) - 50) <= 50)
  })

  test('rejects a filter and options', async () => {
    const books = await collections.create()
    await books.refuse({ estimatedDocumentCount: { filter: {} } }, 'COMMAND_FIELD_UNKNOWN')
    await books.refuse(
      { estimatedDocumentCount: { options: { a: 1 } } },
      'COMMAND_ACCEPTS_NO_OPTIONS',
    )
    await books.run({ estimatedDocumentCount: { options: null } })
  })
})
