/** Stored document texts that other programs may have written. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idIn, readDocument } from '../../../src/engine/cassandra/documents/stored-text.ts'

for (const text of ['not JSON', '', '{', '{"_id":', '[1]', '"x"'])
  test(`the stored text ${JSON.stringify(text)} is reported as unparseable`, () => {
    assert.throws(() => readDocument(text), { kind: 'unparseable' })
    assert.throws(() => idIn(text), { kind: 'unparseable' })
  })

test('a stored text without an _id is reported as unparseable', () => {
  assert.throws(() => idIn('{"a":1}'), { kind: 'unparseable' })
})

test('the _id is found at any position of a stored text', () => {
  for (const text of ['{"_id":1,"a":2}', '{"a":2,"_id":1}', '{ "a": 2, "_id": 1 }'])
    assert.equal(idIn(text), 1)
})
