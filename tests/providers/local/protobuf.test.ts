import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  bytesField,
  floatField,
  join,
  numberField,
} from '../../../src/providers/local/protobuf.ts'

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

describe('protobuf', () => {
  test('writes numbers in groups of seven bits, the low bits first', () => {
    assert.equal(hex(numberField(1, 1)), '0801')
    assert.equal(hex(numberField(1, 150)), '089601')
    assert.equal(hex(numberField(13, 2 ** 40)), '68808080808020')
  })

  test('writes a field number above 15 in two bytes', () => {
    assert.equal(hex(numberField(20, 2)), 'a00102')
  })

  test('writes a negative number as 64 bits', () => {
    assert.equal(hex(numberField(1, -1)), '08ffffffffffffffffff01')
  })

  test('writes a float as four bytes, little-endian', () => {
    assert.equal(hex(floatField(2, 1.5)), '150000c03f')
  })

  test('writes texts and messages with their size in bytes', () => {
    assert.equal(hex(bytesField(2, 'testing')), '120774657374696e67')
    assert.equal(hex(bytesField(2, 'é')), '1202c3a9')
    assert.equal(
      hex(bytesField(3, join([numberField(1, 150), bytesField(7, '')]))),
      '1a050896013a00',
    )
  })
})
