import assert from 'node:assert/strict'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test, type TestContext } from 'node:test'
import { checkStore } from '../../src/engine/embedded/backup/check.ts'
import { documentView } from '../../src/engine/record-view.ts'
import { openEmbedded, type Opened } from './embedded-store.ts'
import { LexicalStore } from './lexical-store.ts'

/** A closed store of texts, most of them in the postings. */
async function makeStore(context: TestContext): Promise<Opened> {
  const opened = await openEmbedded(context)
  const store = await LexicalStore.create(opened.engine, 'books')
  // Enough that they are folded into the postings at once.
  const texts = Array.from(
    { length: 4000 },
    (_, i) => `red fox hen${i} hen${i + 1} elk elk`,
  )
  await store.insert(...texts.map((text, i) => [{ _id: i }, text] as const))
  await store.replace({ _id: 5 }, 'red fox owl')
  await store.delete(6)
  await opened.engine.close()
  return opened
}

function change(file: string, sql: string): void {
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
}

const term = (text: string) => `(SELECT id FROM term WHERE term = '${text}')`

/** Ways to break the index of terms, and what the check must say. */
const damages: readonly (readonly [name: string, sql: string, finding: RegExp])[] = [
  [
    'a text without terms',
    'DELETE FROM indexed WHERE doc = 1000',
    /^the \$lexical of document number 1000 is not indexed$/,
  ],
  [
    'terms without a text',
    "UPDATE search SET lexical = 'null' WHERE doc = 1000",
    /^terms are stored for document number 1000, which has no \$lexical$/,
  ],
  [
    'a list of unknown terms',
    "UPDATE indexed SET terms = x'ff7f' WHERE doc = 1000",
    /^the terms of document number 1000 cannot be read$/,
  ],
  [
    'a term that is counted wrong',
    "UPDATE term SET documents = 7 WHERE term = 'hen900'",
    /^the term "hen900" is counted 7 times, but stands 2 times in the postings$/,
  ],
  [
    'postings of other documents',
    `UPDATE posting SET first = first + 1 WHERE term = ${term('hen900')}`,
    /^the postings of the term "hen900" are not those of the texts that have it$/,
  ],
  [
    'postings with other counts',
    `UPDATE posting SET entries = x'0002060306' WHERE term = ${term('hen900')}`,
    /^the postings of the term "hen900" are not those of the texts that have it$/,
  ],
  [
    'postings that do not start where they say',
    `UPDATE posting SET first = first - 1, entries = x'03060306' WHERE term = ${term('hen900')}`,
    /^the postings of the term "hen900" from document number 899 on are out of order$/,
  ],
  [
    'postings that name a document twice',
    `UPDATE posting SET entries = x'01060106' WHERE term = ${term('hen900')}`,
    /^the postings of the term "hen900" from document number 900 on are out of order$/,
  ],
  [
    'postings of a term that does not exist',
    "INSERT INTO posting VALUES (999999, 1, x'0106')",
    /^there are postings of an unknown term, number 999999$/,
  ],
  [
    'postings that are gone',
    `DELETE FROM posting WHERE term = ${term('hen900')}`,
    /^the term "hen900" is counted 2 times, but stands 0 times in the postings$/,
  ],
  [
    'a wrong number of texts',
    "UPDATE meta SET value = 7 WHERE name = 'texts'",
    /^3999 texts are indexed, but 7 are counted$/,
  ],
  [
    'a wrong number of tokens',
    "UPDATE meta SET value = 7 WHERE name = 'tokens'",
    /^23991 tokens are indexed, but 7 are counted$/,
  ],
]

describe('the check of the index of terms', () => {
  test('finds nothing in a sound one', async (context) => {
    const { fileOf } = await makeStore(context)
    assert.deepEqual(checkStore(fileOf('books'), documentView({})), [])
  })

  test('names each kind of damage', async (context) => {
    const { dataDir, fileOf } = await makeStore(context)
    const sound = join(dataDir, 'sound.db')
    copyFileSync(fileOf('books'), sound)
    for (const [name, sql, finding] of damages) {
      const file = join(dataDir, 'damaged.db')
      copyFileSync(sound, file)
      change(file, sql)
      const findings = checkStore(file, documentView({}))
      assert(findings.length > 0, `${name} was not found`)
      assert.match(findings[0]!, finding, name)
      rmSync(file)
    }
  })
})
