import assert from 'node:assert/strict'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test, type TestContext } from 'node:test'
import { checkStore } from '../../../../src/engine/embedded/backup/check.ts'
import { documentView } from '../../../../src/engine/record-view.ts'
import { DocumentList } from '../../../../src/engine/embedded/lexical/document-list.ts'
import { Postings } from '../../../../src/engine/embedded/lexical/postings.ts'
import { Segments } from '../../../../src/engine/embedded/lexical/segments.ts'
import { openEmbedded, type Opened } from '../embedded-store.ts'
import { lexicalOptions, LexicalStore } from './lexical-store.ts'

/** Creates and closes a store of texts, most of which are in segments. */
async function makeStore(context: TestContext): Promise<Opened> {
  const opened = await openEmbedded(context)
  const store = await LexicalStore.create(opened.engine, 'books')
  // There are so many texts that the writer folds them into postings during the insert.
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

function change(file: string, damage: Damage): void {
  const database = new DatabaseSync(file)
  if (typeof damage === 'string') database.exec(damage)
  else damage(database)
  database.close()
}

type Damage = string | ((database: DatabaseSync) => void)

/** Adds a segment whose content contradicts the texts. */
function lie({ seqs = [], replaced = [], place, term = 'hen900' }: Lie): Damage {
  return (database) => {
    const found = database.prepare('SELECT id FROM term WHERE term = ?').get(term)
    const segments = new Segments(database, '', 1000)
    segments.reload()
    const lengths = Uint32Array.from(seqs, () => 6)
    segments.add(DocumentList.of(seqs), lengths, replaced, (segment) => {
      if (place === undefined) return
      const postings = new Postings(1)
      postings.push(place, 6)
      segment.add(Number(found?.['id'] ?? 999_999), postings, lengths)
    })
  }
}

interface Lie {
  readonly seqs?: readonly number[]
  readonly replaced?: readonly number[]
  readonly place?: number
  readonly term?: string
}

/** Ways to damage the index of terms, and the findings that the check must report. */
const damages: readonly (readonly [name: string, damage: Damage, finding: RegExp])[] = [
  [
    'a text without terms',
    'INSERT OR REPLACE INTO waiting VALUES (1000, NULL, NULL)',
    /^the \$lexical of document number 1000 is not indexed$/,
  ],
  [
    'terms without a text',
    "UPDATE search SET lexical = 'null' WHERE doc = 1000",
    /^terms are stored for document number 1000, which has no \$lexical$/,
  ],
  [
    'a text that was changed',
    `UPDATE search SET lexical = '"red red"' WHERE doc = 1000`,
    /^the postings of the term "red" do not match the texts that contain it$/,
  ],
  [
    'a text of other terms',
    `UPDATE search SET lexical = '"blue"' WHERE doc = 1000`,
    /^the term "blue" of document number 1000 is not indexed$/,
  ],
  [
    'postings of other documents',
    lie({ seqs: [950], replaced: [950], place: 0 }),
    /^the postings of the term "red" do not match the texts that contain it$/,
  ],
  [
    'postings that were replaced by nothing',
    lie({ replaced: [1000] }),
    /^the \$lexical of document number 1000 is not indexed$/,
  ],
  [
    'a document without its postings',
    lie({ seqs: [950], replaced: [950] }),
    /^document number 950 has 6 tokens, but 0 in the postings$/,
  ],
  [
    'postings of a document that is not in the segment',
    lie({ seqs: [950], place: 1 }),
    /^the postings of the term "hen900" in segment \d+ are out of order$/,
  ],
  [
    'postings of a term that does not exist',
    lie({ seqs: [950], place: 0, term: 'nowhere' }),
    /^there are postings of an unknown term, number 999999$/,
  ],
  [
    'postings that are gone',
    'DELETE FROM posting',
    /^segment 1 of the postings cannot be read$/,
  ],
  [
    'postings of no segment',
    'INSERT INTO posting SELECT 999 * (1 << 24), bytes, NULL FROM posting LIMIT 1',
    /^1 rows of postings belong to no segment$/,
  ],
  [
    'a merge of what is gone',
    "INSERT INTO textsegment SELECT 998, 1, 'making', '[997]', 0, 0, 0, x'', x'', x'', NULL",
    /^segment 998 of the postings is being merged from segments that no longer exist$/,
  ],
  [
    'a segment that does not count',
    "UPDATE textsegment SET state = 'dropped'",
    /^the \$lexical of document number 1 is not indexed$/,
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
  test('finds nothing in an intact index', async (context) => {
    const { fileOf } = await makeStore(context)
    assert.deepEqual(checkStore(fileOf('books'), documentView(lexicalOptions)), [])
  })

  test('accepts Thai texts that another ICU version split into other terms', async (context) => {
    const { engine, fileOf } = await openEmbedded(context)
    const store = await LexicalStore.create(engine, 'books')
    await store.insert([{ _id: 1 }, 'กินข้าวแล้ว'], [{ _id: 2 }, 'กินข้าวแล้ว'])
    await store.delete(2)
    await engine.close()
    const { rerank } = lexicalOptions
    const grams = { tokenizer: { name: 'nGram' } }
    for (const analyzer of ['thai', { tokenizer: { name: 'thai' } }]) {
      const view = documentView({ rerank, lexical: { enabled: true, analyzer } })
      assert.deepEqual(checkStore(fileOf('books'), view), [])
    }
    const view = documentView({ rerank, lexical: { enabled: true, analyzer: grams } })
    assert.notDeepEqual(checkStore(fileOf('books'), view), [])
  })

  test('names each kind of damage', async (context) => {
    const { dataDir, fileOf } = await makeStore(context)
    const sound = join(dataDir, 'sound.db')
    copyFileSync(fileOf('books'), sound)
    for (const [name, damage, finding] of damages) {
      const file = join(dataDir, 'damaged.db')
      copyFileSync(sound, file)
      change(file, damage)
      const findings = checkStore(file, documentView(lexicalOptions))
      // Other findings may come first, because checksums also detect some kinds of damage.
      assert(
        findings.some((found) => finding.test(found)),
        `${name}: ${findings.join('; ')}`,
      )
      rmSync(file)
    }
  })
})
