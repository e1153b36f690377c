import assert from 'node:assert/strict'
import {
  closeSync,
  copyFileSync,
  openSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test, type TestContext } from 'node:test'
import { checkStore } from '../../../../src/engine/embedded/backup/check.ts'
import { checkDataFolder } from './check-data-folder.ts'
import { spanOf } from '../../../../src/engine/embedded/format/entry-key.ts'
import { RunsWriter } from '../../../../src/engine/embedded/runs/runs-writer.ts'
import { documentView } from '../../../../src/engine/record-view.ts'
import { keyOf } from '../../../../src/language/values/key.ts'
import { openEmbedded, type Opened } from '../embedded-store.ts'
import { recordOf, Store } from '../../store.ts'

/** A closed store of three documents with entries of all kinds. */
async function makeStore(context: TestContext): Promise<Opened> {
  const opened = await openEmbedded(context)
  const { engine } = opened
  const store = await Store.create(engine, 'books')
  const vector = { numbers: Float32Array.of(1, 2), form: 'array' } as const
  const search = { vector, vectorize: 'text', lexical: 'words' }
  await engine.write(store.target, [
    {
      kind: 'insert',
      record: recordOf({ _id: 1, title: 'One', tags: ['a', 'b'] }, search),
    },
    { kind: 'insert', record: recordOf({ _id: 2, title: 'Two', pages: 200 }) },
    {
      kind: 'insert',
      record: recordOf({ _id: 3, title: 'Two', homes: [{ city: 'Rome' }] }),
    },
  ])
  await engine.close()
  return opened
}

function change(file: string, sql: string): void {
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
}

/** Overwrites a page of the file. */
function scramble(file: string, start: number): void {
  const handle = openSync(file, 'r+')
  writeSync(handle, Buffer.alloc(4096, 0xee), 0, 4096, start)
  closeSync(handle)
}

/** An entry of document 1, unless `seq` names another document. */
interface BadEntry {
  readonly path: string | number
  readonly value: string | number
  readonly seq?: number
  readonly element: boolean
}

/** Adds and removes entries of the index, without changing the documents. */
function changeEntries(
  file: string,
  { put = [], remove = [] }: { put?: readonly BadEntry[]; remove?: readonly BadEntry[] },
): void {
  const database = new DatabaseSync(file)
  const writer = new RunsWriter(database)
  const find = database.prepare('SELECT id FROM path WHERE path = ?')
  const change = (kind: 'put' | 'remove', { path, value, seq = 1, element }: BadEntry) => {
    const id = typeof path === 'number' ? path : Number(find.get(path)!['id'])
    writer[kind](id, spanOf(keyOf(value)), { seq, id: new Uint8Array() }, element)
  }
  for (const entry of remove) change('remove', entry)
  for (const entry of put) change('put', entry)
  writer.finish()
  database.close()
}

const pages = { path: 'pages', value: 200, seq: 2, element: false }
const tag = { path: 'tags', value: 'a', element: true }

type Damage = string | ((file: string) => void)

/** Ways to damage a store, and the findings that the check must report. */
const damages: readonly (readonly [name: string, damage: Damage, finding: RegExp])[] = [
  [
    'a value that is not indexed',
    (file) => {
      changeEntries(file, { remove: [pages] })
      change(file, "UPDATE path SET documents = 0 WHERE path = 'pages'")
    },
    /^document 2 is not indexed at "pages"$/,
  ],
  [
    'an element that is not indexed',
    (file) => changeEntries(file, { remove: [tag] }),
    /^document 1 is not indexed at "tags"$/,
  ],
  [
    'an entry that its document does not have',
    (file) => changeEntries(file, { put: [{ ...tag, value: 'c' }] }),
    /^the index at "tags" has a value that document number 1 does not have$/,
  ],
  [
    'an entry of a document that does not exist',
    (file) => changeEntries(file, { put: [{ ...tag, seq: 99 }] }),
    /^the index at "tags" names document number 99, which does not exist$/,
  ],
  [
    'an entry of an unknown path',
    (file) => changeEntries(file, { put: [{ ...tag, path: 99 }] }),
    /^an entry of document number 1 has an unknown path$/,
  ],
  [
    'an element that is taken for a value',
    (file) => {
      changeEntries(file, { remove: [tag], put: [{ ...tag, element: false }] })
      change(file, "UPDATE path SET documents = documents + 1 WHERE path = 'tags'")
    },
    /^the index has the value of document 1 at "tags" as a value of its own, but it is an element of an array$/,
  ],
  [
    'a value that is taken for an element',
    (file) => {
      changeEntries(file, { remove: [pages], put: [{ ...pages, element: true }] })
      change(file, "UPDATE path SET documents = 0 WHERE path = 'pages'")
    },
    /^the index has the value of document 2 at "pages" as an element of an array, but it is a value of its own$/,
  ],
  [
    'a path that is counted wrong',
    "UPDATE path SET documents = 5 WHERE path = 'title'",
    /^"title" is counted 5 times, but occurs 3 times in the index$/,
  ],
  [
    'a wrong number of documents',
    "UPDATE meta SET value = 4 WHERE name = 'documents'",
    /^3 documents are stored, but 4 are counted$/,
  ],
  [
    'a version from the future',
    "UPDATE meta SET value = 2 WHERE name = 'version'",
    /^a document has version 3, but only 2 writes are counted$/,
  ],
  [
    'a wrong id',
    "UPDATE doc SET id = x'3078' WHERE seq = 2",
    /^document 2 is stored under the key of another _id$/,
  ],
  [
    'a text that is no document',
    `UPDATE doc SET text = '{"_id":2,' WHERE seq = 2`,
    /^document number 2 is not a document: \{"_id":2,$/,
  ],
  [
    'a text that does not start with its _id',
    `UPDATE doc SET text = '{"title":"Two","pages":200,"_id":2}' WHERE seq = 2`,
    /^document number 2 is not a document: \{"title"/,
  ],
  [
    'a text that was changed behind the index',
    `UPDATE doc SET text = '{"_id":2,"title":"Three","pages":200}' WHERE seq = 2`,
    /^document 2 is not indexed at "title"$/,
  ],
  [
    'search fields of no document',
    'INSERT INTO search VALUES (99, 0, NULL, NULL, \'"x"\', NULL)',
    /^search fields are stored for document number 99, which does not exist$/,
  ],
  [
    'a vector that was cut',
    "UPDATE search SET vector = x'010203' WHERE doc = 1",
    /^the \$vector of document number 1 cannot be read: form 2, 3 bytes$/,
  ],
  [
    'a vector of an unknown form',
    'UPDATE search SET vector_form = 9 WHERE doc = 1',
    /^the \$vector of document number 1 cannot be read: form 9, 8 bytes$/,
  ],
  [
    'a search text that is none',
    "UPDATE search SET vectorize = '{', lexical = '5' WHERE doc = 1",
    /^the \$(vectorize|lexical) of document number 1 cannot be read$/,
  ],
]

describe('the check of a store', () => {
  test('finds nothing in an intact store', async (context) => {
    const { dataDir, fileOf } = await makeStore(context)
    assert.deepEqual(checkStore(fileOf('books'), documentView({})), [])
    assert.deepEqual(checkDataFolder(dataDir), [])
  })

  test('names each kind of damage', async (context) => {
    const { dataDir, fileOf } = await makeStore(context)
    const sound = join(dataDir, 'sound.db')
    copyFileSync(fileOf('books'), sound)
    for (const [name, damage, finding] of damages) {
      const file = join(dataDir, 'damaged.db')
      copyFileSync(sound, file)
      if (typeof damage === 'string') change(file, damage)
      else damage(file)
      const findings = checkStore(file, documentView({}))
      assert(findings.length > 0, `${name} was not found`)
      const isSum = (text: string) => /checksum|digest/.test(text)
      const [first] = findings.filter((text) => !isSum(text))
      assert.match(first!, finding, name)
      // Each kind of damage causes at most five findings: missing and surplus entries, the row's
      // checksum, and the store's digest. At most two of the findings are about checksums and
      // digests.
      assert(findings.length <= 5, `${name}: ${findings.join('; ')}`)
      assert(findings.filter(isSum).length <= 2, `${name}: ${findings.join('; ')}`)
      rmSync(file)
    }
  })

  test('reports index entries of paths that the collection does not index', async (context) => {
    const { fileOf } = await makeStore(context)
    const findings = checkStore(
      fileOf('books'),
      documentView({ indexing: { deny: ['title'] } }),
    )
    assert.deepEqual(findings, [
      'the index at "title" has a value that document number 1 does not have',
      'the index at "title" has a value that document number 2 does not have',
      'the index at "title" has a value that document number 3 does not have',
    ])
  })

  test('reports the first 100 of many similar problems and counts the remaining ones', async (context) => {
    const { fileOf } = await makeStore(context)
    const numbers = Array.from(
      { length: 250 },
      (_, i) => `(${i + 100}, 0, NULL, NULL, NULL, NULL)`,
    )
    change(fileOf('books'), `INSERT INTO search VALUES ${numbers.join(', ')}`)
    const findings = checkStore(fileOf('books'), documentView({}))
    assert.equal(findings.length, 101)
    assert.equal(findings.at(-1), '150 more similar problems')
  })

  test('names a file that is missing, truncated, overwritten or not a store', async (context) => {
    const { dataDir, fileOf } = await makeStore(context)
    const file = fileOf('books')
    change(join(dataDir, 'foreign.db'), 'CREATE TABLE doc(id)')
    assert.match(
      checkStore(join(dataDir, 'foreign.db'), documentView({}))[0]!,
      /not written by Stela/,
    )
    assert.match(checkStore(join(dataDir, 'none.db'), documentView({}))[0]!, /is missing/)
    writeFileSync(join(dataDir, 'text.db'), 'not a database'.repeat(100))
    assert.match(
      checkStore(join(dataDir, 'text.db'), documentView({}))[0]!,
      /not a database file/,
    )
    scramble(file, 2 * 4096)
    assert.match(checkStore(file, documentView({}))[0]!, /cannot be read|damaged/)
    truncateSync(file, 3 * 4096)
    assert.match(checkStore(file, documentView({}))[0]!, /cannot be read|damaged|truncated/)
    assert.match(checkDataFolder(dataDir)[0]!, /^default_keyspace\.books: /)
  })

  test('covers all collections of a data folder that no server uses', async (context) => {
    const { dataDir, engine, fileOf } = await openEmbedded(context)
    for (const name of ['first', 'second', 'Second']) {
      const store = await Store.create(engine, name)
      await store.insert([{ _id: 1, a: name }])
    }
    assert.throws(() => checkDataFolder(dataDir), /in use by a running server/)
    // Unlike a data folder, a single store can be checked while it is in use.
    assert.deepEqual(checkStore(fileOf('first'), documentView({})), [])
    await engine.close()
    assert.deepEqual(checkDataFolder(dataDir), [])
    change(fileOf('second'), 'DELETE FROM recent')
    assert.deepEqual(checkDataFolder(dataDir), [
      'default_keyspace.second: document 1 is not indexed at "a"',
      'default_keyspace.second: "a" is counted 1 times, but occurs 0 times in the index',
    ])
  })
})
