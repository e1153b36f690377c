import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { CommaList, wholeText, type LongText } from '../../src/json/long-text.ts'

function listOf(texts: readonly string[]): LongText {
  const list = new CommaList()
  for (const text of texts) list.add(text)
  return list.text()
}

/** Minimum length, in characters, of a text that CommaList keeps as a separate part. */
const edge = 65_536
const lengths = fc.oneof(
  fc.integer({ min: 1, max: 20 }),
  fc.constantFrom(edge / 2, edge - 1, edge, edge + 1, 3 * edge),
)

describe('a list of texts', () => {
  test('is read as its texts, separated by commas', () => {
    fc.assert(
      fc.property(fc.array(lengths, { maxLength: 30 }), (some) => {
        const texts = some.map((length, i) => String(i % 10).repeat(length))
        assert.equal(wholeText(listOf(texts)), texts.join(','))
      }),
    )
  })

  test('is one text while it is short, and combines short texts into parts when it is long', () => {
    assert.equal(listOf([]), '')
    assert.equal(listOf(['1', '2']), '1,2')
    assert.equal(listOf(['x'.repeat(edge)]), 'x'.repeat(edge))
    const many = listOf(Array<string>(10_000).fill('x'.repeat(99)))
    assert(typeof many !== 'string')
    assert.equal(many.length, Math.ceil(1_000_000 / edge))
  })

  test('keeps long texts as separate parts, because copying them is slow', () => {
    const long = 'x'.repeat(edge)
    assert.deepEqual(listOf(['1', long, long, '2']), ['1,', long, ',', long, ',2'])
  })
})
