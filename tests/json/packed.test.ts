import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { packValue, unpackList } from '../../src/json/packed.ts'
import { seed } from '../language/documents.ts'
import { values } from './values.ts'

const limits = { depthMax: 100, valuesMax: 10_000 }

test('packed values are unpacked without loss', () => {
  const odd = [undefined, NaN, -0, -Infinity, { decimal: '1.5e+400' }, '', '\ud800x', '€']
  assert.deepEqual(unpackList(packValue(odd), limits), odd)
  fc.assert(
    fc.property(fc.array(values), (list) => {
      assert.deepEqual(unpackList(packValue(list), limits), list)
    }),
    { seed },
  )
})

test('truncated bytes are rejected, and changed bytes are rejected or unpacked as a list', () => {
  fc.assert(
    fc.property(fc.array(values), fc.nat(), fc.nat(255), (list, at, byte) => {
      const bytes = packValue(list)
      assert.equal(unpackList(bytes.subarray(0, -1), limits), undefined)
      bytes[at % bytes.length] = byte
      const read = unpackList(bytes, limits)
      assert(read === undefined || Array.isArray(read))
    }),
    { seed },
  )
})
