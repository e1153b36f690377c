import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foldText } from '../../../src/language/columns/fold-text.ts'

const plain = { ascii: false, caseSensitive: true, normalize: false }

test('folding without options leaves a text unchanged', () => {
  for (const text of ['', 'Café', 'Cafe\u0301', 'ÀÉ'])
    assert.equal(foldText(text, plain), text)
})

test('case folding converts letters to lower case', () => {
  assert.equal(foldText('CAFÉ I', { ...plain, caseSensitive: false }), 'café i')
})

test('normalization composes characters', () => {
  assert.equal(foldText('Cafe\u0301', { ...plain, normalize: true }), 'Café')
  assert.equal(foldText('ﬁ', { ...plain, normalize: true }), 'ﬁ')
})

test('ASCII folding replaces letters by an ASCII equivalent when one exists', () => {
  assert.equal(foldText('Café Straße 日本', { ...plain, ascii: true }), 'Cafe Strasse 日本')
})

test('all folding options can be combined', () => {
  const all = { ascii: true, caseSensitive: false, normalize: true }
  for (const text of ['CAFÉ', 'cafe\u0301', 'Cafe', 'CAFE\u0301'])
    assert.equal(foldText(text, all), 'cafe')
})
