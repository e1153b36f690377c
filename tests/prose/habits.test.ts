/** The checks of prose and of commit subjects in `npm run lint`. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { habitsIn, proseIn, subjectProblem } from './habits.ts'

describe('habitsIn', () => {
  for (const [prose, name] of [
    ['Of columns that only CQL can use.', 'no subject'],
    ['What is no request is refused.', 'described by what it is not'],
    ['It has a role then that is none.', 'that is none'],
    ['Nobody reads the reply any more.', 'nobody, somebody'],
    ['Evicts those that were not used.', 'all that, those that'],
  ] as const)
    test(`finds "${name}" in "${prose}"`, () => {
      assert(habitsIn(prose).includes(name))
    })

  test('accepts plain sentences', () => {
    const plain = 'When full, the cache admits one row in `admissionInterval`.'
    assert.deepEqual(habitsIn(plain), [])
  })
})

describe('proseIn', () => {
  test('yields comments and test titles of code with their lines', () => {
    const code = ['/** A cache. */', 'const size = 1 // bytes', "test('evicts rows', run)"]
    assert.deepEqual(
      [...proseIn('a.ts', code.join('\n'))],
      [
        [1, 'A cache. '],
        [3, 'evicts rows'],
      ],
    )
  })

  test('yields the text of a page without its code and tables', () => {
    const page = ['# Limits', '```sh', 'npm start', '```', '| a |', 'Text.']
    assert.deepEqual(
      [...proseIn('a.md', page.join('\n'))],
      [
        [1, 'Limits'],
        [6, 'Text.'],
      ],
    )
  })
})

describe('subjectProblem', () => {
  for (const subject of [
    'engine/embedded: sync the folder after renaming a segment',
    'http: address keep-alive connections by their socket',
    'http, admin: compress replies',
  ])
    test(`accepts "${subject}"`, () => {
      assert.equal(subjectProblem(subject), undefined)
    })

  for (const [subject, problem] of [
    ['Sync the folder', /area/],
    ['engine: syncing the folder', /not an imperative/],
    ['engine: the folder is synced', /not an imperative/],
    [`engine: sync ${'very '.repeat(20)}often`, /characters/],
  ] as const)
    test(`rejects "${subject.slice(0, 40)}"`, () => {
      assert.match(subjectProblem(subject)!, problem)
    })
})
