import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test, type TestContext } from 'node:test'
import { checked } from '../../src/engine/checked.ts'
import { checkDataFolder, checkStore } from '../../src/engine/embedded/backup/check.ts'
import { openEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { EngineError } from '../../src/engine/errors.ts'
import { documentView } from '../../src/engine/record-view.ts'
import { LexicalStore, match } from './lexical-store.ts'
import { by, where } from './store.ts'

/** The tables of format 1, as they were. */
const firstSchema = `
  CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE doc(
    seq INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
  CREATE TABLE search(
    doc INTEGER PRIMARY KEY,
    vector_form INTEGER NOT NULL,
    vector BLOB,
    vectorize TEXT,
    lexical TEXT
  ) STRICT;
  CREATE TABLE path(
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    documents INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE entry(
    path INTEGER NOT NULL,
    value BLOB NOT NULL,
    doc INTEGER NOT NULL,
    element INTEGER NOT NULL,
    PRIMARY KEY (path, value, doc)
  ) WITHOUT ROWID, STRICT;
`

/** Puts the documents of a store into a file of format 1, which takes its place. */
function downgrade(file: string): void {
  const old = `${file}.old`
  const database = new DatabaseSync(old)
  database.exec(`
    PRAGMA application_id = 0x53544c41;
    PRAGMA user_version = 1;
    ${firstSchema}
    ATTACH '${file}' AS now;
    INSERT INTO doc SELECT * FROM now.doc;
    INSERT INTO search SELECT * FROM now.search;
    INSERT INTO path SELECT * FROM now.path;
    INSERT INTO entry SELECT * FROM now.entry;
    INSERT INTO meta SELECT * FROM now.meta WHERE name IN ('documents', 'version');
    DETACH now;
    PRAGMA journal_mode = WAL;
  `)
  database.close()
  for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true })
  renameSync(old, file)
}

interface Folder {
  readonly file: string
  readonly dataDir: string
  /** Opens an engine there, and says what it logged. */
  readonly open: () => Promise<{ engine: Engine; logged: string[] }>
}

/** A folder with a store of format 1. */
async function makeFolder(context: TestContext): Promise<Folder> {
  const dataDir = mkdtempSync(join(tmpdir(), 'stela-upgrade-'))
  const opened: Engine[] = []
  const open = async () => {
    const logged: string[] = []
    const log = (_level: string, message: string): void => void logged.push(message)
    const engine = checked(await openEmbeddedEngine({ dataDir, durable: false, log }))
    opened.push(engine)
    return { engine, logged }
  }
  context.after(async () => {
    for (const engine of opened) await engine.close()
    rmSync(dataDir, { recursive: true })
  })
  const { engine } = await open()
  const store = await LexicalStore.create(engine, 'books')
  await store.insert(
    [{ _id: 1, n: 3 }, 'red fox'],
    [{ _id: 2, n: 2 }, 'red red hen'],
    [{ _id: 3, n: 1 }],
    [{ _id: 4, n: 0 }, null],
    [{ _id: 5 }, ''],
  )
  const many = Array.from(
    { length: 2500 },
    (_, i) => [{ _id: `x${i}` }, `other w${i}`] as const,
  )
  await store.insert(...many)
  await engine.close()
  const file = join(dataDir, 'default_keyspace', 'books', 'store.db')
  downgrade(file)
  chmodSync(dataDir, 0o700)
  chmodSync(file, 0o600)
  return { file, dataDir, open }
}

function numbersOf(file: string): object {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const { user_version: format } = database.prepare('PRAGMA user_version').get()!
    const meta = database.prepare('SELECT name, value FROM meta').all()
    const numbers = new Map(meta.map(({ name, value }) => [String(name), value]))
    return { format, ...Object.fromEntries(numbers) }
  } finally {
    database.close()
  }
}

describe('a store of format 1', () => {
  test('is brought to the present format when it is opened, once', async (context) => {
    const { file, dataDir, open } = await makeFolder(context)
    assert.deepEqual(numbersOf(file), { format: 1, documents: 2505, version: 2505 })
    assert.deepEqual(checkDataFolder(dataDir), [])

    const { engine, logged } = await open()
    assert.deepEqual(logged, [`${file} was brought to format 2`])
    assert.deepEqual(numbersOf(file), {
      format: 2,
      documents: 2505,
      version: 2505,
      feed: 2505,
      texts: 2502,
      tokens: 5005,
    })
    const store = await LexicalStore.find(engine, 'books')
    assert.deepEqual(await store.search('red'), [2, 1])
    assert.deepEqual(await store.search('w777 other'), ['x777'])
    assert.equal(await store.count(match('other')), 2500)
    assert.deepEqual(await store.ids(where('n', 'gte', 0), by('n')), [4, 3, 2, 1])
    await store.replace({ _id: 1 }, 'grey fox')
    await store.insert([{ _id: 6 }, 'red'])
    assert.deepEqual(await store.search('red'), [6, 2])
    assert.deepEqual(checkStore(file, documentView({})), [])
    await engine.close()

    const again = await open()
    assert.deepEqual(again.logged, [])
    assert.deepEqual(
      await (await LexicalStore.find(again.engine, 'books')).search('red'),
      [6, 2],
    )
  })

  test('stays as it was when that fails', async (context) => {
    const { file, open } = await makeFolder(context)
    const spoil = (lexical: string): void => {
      const database = new DatabaseSync(file)
      database.prepare('UPDATE search SET lexical = ? WHERE doc = 2000').run(lexical)
      database.close()
    }
    spoil('"not JSON')
    await assert.rejects(open(), (error) => {
      assert(error instanceof EngineError)
      assert.match(
        error.message,
        /store\.db cannot be brought to format 2: .*It is as it was/,
      )
      return true
    })
    assert.deepEqual(numbersOf(file), { format: 1, documents: 2505, version: 2505 })
    spoil('"mended"')
    const { engine } = await open()
    const store = await LexicalStore.find(engine, 'books')
    assert.equal((await store.search('mended')).length, 1)
  })
})
