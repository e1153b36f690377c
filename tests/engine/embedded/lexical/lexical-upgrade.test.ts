import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test, type TestContext } from 'node:test'
import { checked } from '../../contract/checked.ts'
import { checkStore } from '../../../../src/engine/embedded/backup/check.ts'
import { checkDataFolder } from '../backup/check-data-folder.ts'
import { isElement } from '../../../../src/engine/embedded/runs/change.ts'
import { pathIn, valueIn } from '../../../../src/engine/embedded/format/entry-key.ts'
import { RunsReader } from '../../../../src/engine/embedded/runs/runs-reader.ts'
import { openEmbeddedEngine } from '../../../../src/engine/embedded/engine.ts'
import type { Engine } from '../../../../src/engine/contract.ts'
import { TermList } from '../../../../src/engine/embedded/lexical/term-list.ts'
import { VarintWriter } from '../../../../src/engine/embedded/lexical/varints.ts'
import { formatVersion } from '../../../../src/engine/embedded/store/layout.ts'
import { EngineError } from '../../../../src/engine/errors.ts'
import { documentView } from '../../../../src/engine/record-view.ts'
import { lexicalOptions, LexicalStore, match } from './lexical-store.ts'
import { by, where } from '../../store.ts'

const firstEntries = `
  CREATE TABLE entry(
    path INTEGER NOT NULL,
    value BLOB NOT NULL,
    doc INTEGER NOT NULL,
    element INTEGER NOT NULL,
    PRIMARY KEY (path, value, doc)
  ) WITHOUT ROWID, STRICT;
`

/** The tables of format 1. */
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
  ${firstEntries}
`

/** Copies the index entries of a store into the entry table of format 1. */
function copyEntries(file: string, into: DatabaseSync): void {
  const now = new DatabaseSync(file)
  const reader = new RunsReader(now)
  reader.begin()
  const insert = into.prepare('INSERT INTO entry VALUES (?, ?, ?, ?)')
  into.exec('BEGIN')
  for (const { key, state, doc } of reader.all())
    insert.run(pathIn(key), valueIn(key), doc, Number(isElement(state)))
  into.exec('COMMIT')
  now.close()
}

/** Converts a store file to format 1. */
function downgrade(file: string): void {
  const old = `${file}.old`
  const database = new DatabaseSync(old)
  database.exec(`
    PRAGMA application_id = 0x53544c41;
    PRAGMA user_version = 1;
    ${firstSchema}
    ATTACH '${file}' AS now;
    INSERT INTO doc SELECT seq, id, version, text FROM now.doc;
    INSERT INTO search
      SELECT doc, vector_form, vector, vectorize, lexical FROM now.search;
    INSERT INTO path SELECT * FROM now.path;
    INSERT INTO meta SELECT * FROM now.meta WHERE name IN ('documents', 'version');
    DETACH now;
    PRAGMA journal_mode = WAL;
  `)
  copyEntries(file, database)
  database.close()
  for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true })
  renameSync(old, file)
}

const engineModule = new URL('../../../../src/engine/embedded/engine.ts', import.meta.url)
  .href

/**
 * A program that opens an engine. It kills itself before the first statement that starts with the
 * text of the variable AT.
 */
const killed = `
  import { DatabaseSync, StatementSync } from 'node:sqlite'
  const { ENGINE, FOLDER, AT } = process.env
  const dieAt = (sql) => {
    if (sql.trim().startsWith(AT)) process.kill(process.pid, 'SIGKILL')
  }
  const { exec } = DatabaseSync.prototype
  DatabaseSync.prototype.exec = function (sql) {
    dieAt(sql)
    return exec.call(this, sql)
  }
  const { run } = StatementSync.prototype
  StatementSync.prototype.run = function (...values) {
    dieAt(this.sourceSQL)
    return run.apply(this, values)
  }
  const { openEmbeddedEngine } = await import(ENGINE)
  await openEmbeddedEngine({ dataDir: FOLDER, durable: true, log: () => undefined })
`

interface Folder {
  readonly file: string
  readonly dataDir: string
  /** Opens an engine on the folder, and returns it with the messages that it logged. */
  readonly open: () => Promise<{ engine: Engine; logged: string[] }>
}

/** The tables of terms in format 2. */
const secondTerms = `
  CREATE TABLE newterm(id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE,
    documents INTEGER NOT NULL) STRICT;
  CREATE TABLE newposting(term INTEGER NOT NULL, first INTEGER NOT NULL,
    entries BLOB NOT NULL, PRIMARY KEY (term, first)) WITHOUT ROWID, STRICT;
  CREATE TABLE indexed(doc INTEGER PRIMARY KEY, terms BLOB NOT NULL) STRICT;
  DELETE FROM waiting;
`

/**
 * Converts a store to format 2. Documents whose number ends in 7 wait for indexing. Every second
 * document of these also has outdated terms in the postings.
 */
function giveSecondForm(file: string): void {
  const database = new DatabaseSync(file)
  database.exec(firstEntries)
  copyEntries(file, database)
  for (const table of ['recent', 'run', 'segment', 'block', 'manifest'])
    database.exec(`DROP TABLE ${table}`)
  database.exec(`BEGIN; ${secondTerms}; INSERT INTO newterm SELECT id, term, 0 FROM term`)
  const postings = new Map<number, number[][]>()
  const writer = new VarintWriter()
  const put = (distance: number, count: number): void => {
    writer.put(distance * 2 + Number(count === 1))
    if (count !== 1) writer.put(count)
  }
  const write = database.prepare('INSERT INTO indexed(terms, doc) VALUES (?, ?)')
  const wait = database.prepare('INSERT OR REPLACE INTO waiting(doc, terms) VALUES (?, ?)')
  const texts = database.prepare(
    "SELECT doc, lexical FROM search WHERE lexical NOT IN ('null', '\"\"') ORDER BY doc",
  )
  const terms = database.prepare('SELECT id, term FROM term').all()
  const idOf = new Map(terms.map(({ id, term }) => [String(term), Number(id)]))
  for (const { doc, lexical } of texts.all()) {
    const seq = Number(doc)
    const list = new TermList(0)
    const ids = (JSON.parse(String(lexical)) as string)
      .split(' ')
      .map((term) => idOf.get(term)!)
    for (const id of [...new Set(ids)].sort((a, b) => a - b))
      list.push(id, ids.filter((other) => other === id).length)
    let before = 0
    for (let i = 0; i < list.size; i++) {
      put(list.ids[i]! - before, list.counts[i]!)
      before = list.ids[i]!
      const found = postings.get(before) ?? []
      postings.set(before, found)
      if (seq % 10 !== 7) found.push([seq, list.counts[i]!, list.length])
    }
    write.run(writer.finish(), seq)
    if (seq % 10 !== 7) continue
    put(1, 3)
    wait.run(seq, seq % 20 === 7 ? writer.finish() : null)
    writer.finish()
    if (seq % 20 === 7) postings.get(1)!.push([seq, 3, 3])
  }
  const chunk = database.prepare('INSERT INTO newposting VALUES (?, ?, ?)')
  for (const [term, found] of postings)
    for (let from = 0; from < found.length; from += 400) {
      let before = found[from]![0]!
      for (const [seq, count, length] of found.slice(from, from + 400)) {
        put(seq! - before, count!)
        writer.put(length!)
        before = seq!
      }
      chunk.run(term, found[from]![0]!, writer.finish())
    }
  database.exec(`
    DROP TABLE term; DROP TABLE posting; DROP TABLE textsegment;
    ALTER TABLE newterm RENAME TO term; ALTER TABLE newposting RENAME TO posting;
    ALTER TABLE doc DROP COLUMN checksum;
    ALTER TABLE search DROP COLUMN checksum;
    ALTER TABLE waiting DROP COLUMN checksum;
    DELETE FROM meta WHERE name IN ('terms', 'segments', 'digest');
    PRAGMA user_version = 2; COMMIT; PRAGMA wal_checkpoint(TRUNCATE);
  `)
  database.close()
}

/** A folder with a store of an earlier format. */
async function makeFolder(
  context: TestContext,
  giveForm: (file: string) => void = downgrade,
): Promise<Folder> {
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
  giveForm(file)
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
  test('is converted to the current format when it is first opened', async (context) => {
    const { file, dataDir, open } = await makeFolder(context)
    assert.deepEqual(numbersOf(file), { format: 1, documents: 2505, version: 2505 })
    assert.deepEqual(checkDataFolder(dataDir), [])

    const { engine, logged } = await open()
    assert.deepEqual(logged, [`Upgraded ${file} to format ${formatVersion}`])
    assert.deepEqual(numbersOf(file), {
      format: formatVersion,
      digest: 0,
      documents: 2505,
      version: 2505,
      feed: 2505,
      texts: 2502,
      tokens: 5005,
      terms: 2504,
      segments: 2,
    })
    const store = await LexicalStore.find(engine, 'books')
    assert.deepEqual(await store.search('red'), [2, 1])
    assert.deepEqual(await store.search('w777 other'), ['x777'])
    assert.equal(await store.count(match('other')), 2500)
    assert.deepEqual(await store.ids(where('n', 'gte', 0), by('n')), [4, 3, 2, 1])
    await store.replace({ _id: 1 }, 'grey fox')
    await store.insert([{ _id: 6 }, 'red'])
    assert.deepEqual(await store.search('red'), [6, 2])
    assert.deepEqual(checkStore(file, documentView(lexicalOptions)), [])
    await engine.close()

    const again = await open()
    assert.deepEqual(again.logged, [])
    assert.deepEqual(
      await (await LexicalStore.find(again.engine, 'books')).search('red'),
      [6, 2],
    )
  })

  test('has the old or the new format, whenever its conversion is killed', async (context) => {
    const { file, dataDir, open } = await makeFolder(context)
    const killAt = (statement: string): void => {
      const { signal } = spawnSync(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', killed],
        { env: { ...process.env, ENGINE: engineModule, FOLDER: dataDir, AT: statement } },
      )
      assert.equal(signal, 'SIGKILL', statement)
      assert.deepEqual(checkDataFolder(dataDir), [], statement)
    }
    for (const statement of [
      'INSERT INTO block',
      'DROP TABLE entry',
      'PRAGMA user_version =',
    ]) {
      killAt(statement)
      assert.deepEqual(numbersOf(file), { format: 1, documents: 2505, version: 2505 })
    }
    killAt('PRAGMA wal_checkpoint')
    const { engine, logged } = await open()
    // The killed process had committed the conversion to the write-ahead log. Opening the engine
    // only checkpoints it.
    assert.deepEqual(logged, [])
    const store = await LexicalStore.find(engine, 'books')
    assert.deepEqual(await store.search('red'), [2, 1])
    assert.deepEqual(await store.ids(where('n', 'gte', 0), by('n')), [4, 3, 2, 1])
    assert.deepEqual(checkStore(file, documentView(lexicalOptions)), [])
  })

  test('stays unchanged when its conversion fails', async (context) => {
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
        /store\.db cannot be upgraded to format \d+: .*The file was not changed/,
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

describe('a store of format 2', () => {
  test('is converted: its postings become a segment, and texts that wait to be indexed keep waiting', async (context) => {
    const { file, dataDir, open } = await makeFolder(context, giveSecondForm)
    assert.deepEqual(checkDataFolder(dataDir), [])
    const { engine, logged } = await open()
    assert.deepEqual(logged, [`Upgraded ${file} to format ${formatVersion}`])
    assert.deepEqual(checkStore(file, documentView(lexicalOptions)), [])
    const store = await LexicalStore.find(engine, 'books')
    assert.deepEqual(await store.search('red'), [2, 1])
    assert.deepEqual(await store.search('w777 other'), ['x777'])
    assert.equal(await store.count(match('other')), 2500)
    const one = { _id: 'x777' }
    await store.replace(one, 'red other')
    assert.equal(await store.count(match('other')), 2500)
    assert.deepEqual(await store.search('w777'), [])
    await engine.close()
    assert.deepEqual(checkStore(file, documentView(lexicalOptions)), [])
    assert.deepEqual((await open()).logged, [])
  })
})
