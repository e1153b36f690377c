import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { types } from 'cassandra-driver'
import {
  firstRows,
  pageBytesMax,
  PageSize,
} from '../../../src/engine/cassandra/cluster/page-size.ts'

const column = { name: 'c', type: { code: types.dataTypes.text } }

const { Row } = types as unknown as { Row: new (columns: object[]) => types.Row }

function rowsOf(count: number, value: unknown): readonly types.Row[] {
  return Array.from({ length: count }, () => Object.assign(new Row([column]), { c: value }))
}

describe('a page of a cluster', () => {
  test('has few rows while the size of a row is unknown, and at most the requested number', () => {
    const size = new PageSize()
    assert.equal(size.rows(1_000), firstRows)
    assert.equal(size.rows(3), 3)
  })

  test('has the requested number of rows if they are small', () => {
    const size = new PageSize()
    size.note(rowsOf(10, 'short'))
    assert.equal(size.rows(1_000), 1_000)
  })

  test('has rows of a few megabytes in total, but at least one row', () => {
    const size = new PageSize()
    size.note(rowsOf(10, 'x'.repeat(pageBytesMax / 5)))
    assert.equal(size.rows(1_000), 4)
    size.note(rowsOf(1, 'x'.repeat(3 * pageBytesMax)))
    assert.equal(size.rows(1_000), 1)
    size.note([])
    assert.equal(size.rows(1_000), 1)
  })

  for (const [what, value] of [
    ['a large list', Array.from({ length: 150_000 }, (_, n) => n)],
    ['a large set', new Set(Array.from({ length: 150_000 }, (_, n) => n))],
    ['a large map', new Map(Array.from({ length: 150_000 }, (_, n) => [`${n}`, n]))],
    ['a large blob', Buffer.alloc(pageBytesMax)],
  ] as const)
    test(`has only one row when a row contains ${what}`, () => {
      const size = new PageSize()
      size.note(rowsOf(1, value))
      assert.equal(size.rows(1_000), 1)
    })
})
