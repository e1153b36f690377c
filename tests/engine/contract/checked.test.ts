import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test, type TestContext } from 'node:test'
import { around } from '../../../src/engine/around.ts'
import type { BackupPart } from '../../../src/engine/backup.ts'
import { checked } from './checked.ts'
import type {
  Engine,
  Page,
  Query,
  StoredRecord,
  Write,
} from '../../../src/engine/contract.ts'
import { EngineError } from '../../../src/engine/errors.ts'
import type { SchemaPlan } from '../../../src/engine/schema-change.ts'
import { everything } from '../../../src/language/filters/filter.ts'
import { openEmbedded } from '../embedded/embedded-store.ts'
import { by, tester, recordOf, Store, where } from '../store.ts'
import { anyRow, column, TableStore } from '../table-store.ts'

/**
 * A store on an embedded engine, some of whose methods are replaced by methods that break the
 * contract.
 */
async function spoiled(
  context: TestContext,
  spoil: (engine: Engine) => Partial<Engine>,
): Promise<Store> {
  const { engine } = await openEmbedded(context)
  const store = await Store.create(engine, 'books')
  await store.insert([1, 2, 3].map((_id) => ({ _id, n: 10 - _id })))
  return new Store(checked({ ...engine, ...spoil(engine) }), store.target)
}

const noColumns = { columns: [], partitionBy: [], partitionSort: [] }

const query: Query = {
  filter: where('n', 'gt', 0),
  sort: by('n'),
  skip: 0,
  limit: 3,
  after: undefined,
  stable: false,
  withSearchFields: false,
}

/** Ways to violate the contract of pages, and the message of each violation. */
const spoiledPages: Readonly<
  Record<string, readonly [change: (page: Page) => Partial<Page>, message: RegExp]>
> = {
  'a record that does not match': [
    ({ records }) => ({ records: [change(records[0]!, '{"_id":3,"n":-1}')] }),
    /the filter was served, but \{"_id":3,"n":-1\} does not match it/,
  ],
  'records in the wrong order': [
    ({ records }) => ({ records: records.toReversed() }),
    /the sort was served, but these stand the wrong way round/,
  ],
  'a record that comes twice': [
    ({ records }) => ({ records: [records[0]!, records[0]!] }),
    /read: 3 came twice/,
  ],
  'more records than the limit': [
    ({ records }) => ({ records: [...records, records[0]!] }),
    /4 records on a page of at most 3/,
  ],
  'an id that differs from the _id in the text': [
    ({ records }) => ({ records: [{ ...plain(records[0]!), id: 7 }] }),
    /a record's id is 7, but its text says otherwise/,
  ],
  'a text that does not start with the _id': [
    ({ records }) => ({ records: [change(records[0]!, '{"n":1,"_id":3}')] }),
    /text must start with its _id/,
  ],
  'an empty position of the next page': [
    () => ({ next: '' }),
    /next is neither absent nor a text/,
  ],
}

const begin: BackupPart = { kind: 'begin', files: 1, size: 3 }
const file: BackupPart = { kind: 'file', key: 'books-1-2', size: 3, content: bytes(3) }
const contents = { created: '', catalog: { key: 'books-1-2' }, stores: [] }
const end: BackupPart = { kind: 'end', contents }

/** Ways to violate the contract of backups, and the message of each violation. */
const spoiledBackups: Readonly<
  Record<string, readonly [parts: readonly BackupPart[], message: RegExp]>
> = {
  'that does not say how many files it has': [[file, end], /begins once/],
  'that begins twice': [[begin, begin, file, end], /begins once/],
  'of more files than it said': [
    [begin, file, { ...file, key: 'books-1-3' }, end],
    /more files than it said/,
  ],
  'of fewer files than it said': [[begin, end], /fewer files than it said/],
  'of a file that the caller has': [
    [begin, { ...file, key: 'known-1-2' }, end],
    /the caller has known-1-2/,
  ],
  'of a file with a name that is no key': [[begin, { ...file, key: '../a' }], /is no key/],
  'of a file that is shorter than it said': [
    [begin, { ...file, content: bytes(2) }, end],
    /does not have the 3 bytes it said/,
  ],
  'without a file that belongs to it': [
    [begin, { ...file, content: bytes(3), key: 'books-1-3' }, end],
    /books-1-2 belongs to it, and was not sent/,
  ],
  'that has no end': [[begin, { ...file, content: bytes(3) }], /stops without an end/],
  'that goes on after its end': [
    [begin, { ...file, content: bytes(3) }, end, end],
    /more comes after its end/,
  ],
}

async function* bytes(count: number): AsyncGenerator<Uint8Array> {
  await Promise.resolve()
  yield new Uint8Array(count)
}

describe('a checked engine', () => {
  test('notices a backup that violates the contract', async (context) => {
    const { engine } = await openEmbedded(context)
    const take = async (parts: readonly BackupPart[]) => {
      const operations = { ...engine.operations!, backup: () => Readable.from(parts) }
      const taken = checked({ ...engine, operations }).operations!.backup(
        new Set(['known-1-2']),
        new AbortController().signal,
      )
      for await (const part of taken)
        if (part.kind === 'file') await Array.fromAsync(part.content)
    }
    for (const [name, [parts, message]] of Object.entries(spoiledBackups))
      await assert.rejects(take(parts), message, name)
  })

  test('notices impossible statistics and sizes', async (context) => {
    const { engine, target } = await spoiled(context, ({ operations }) => ({
      operations: {
        ...operations!,
        statistics: async () => ({ ...(await operations!.statistics()), commits: -1 }),
        sizeOf: async (of) => ({ ...(await operations!.sizeOf(of)), count: 0.5 }),
      },
    }))
    await assert.rejects(engine.operations!.statistics(), /statistics: commits/)
    await assert.rejects(engine.operations!.sizeOf(target), /sizeOf: count/)
  })

  for (const [name, [spoil, message]] of Object.entries(spoiledPages))
    test(`notices ${name}`, async (context) => {
      const store = await spoiled(context, (engine) => ({
        async read(...given) {
          const page = await engine.read(...given)
          const { records, served, next } = page
          const positionAfter = (record: StoredRecord) => page.positionAfter(record)
          return { records, served, next, positionAfter, ...spoil(page) }
        },
      }))
      const read = async () => store.engine.read(store.target, query, tester)
      await assert.rejects(read, message)
    })

  test('notices a column that the caller did not request', async (context) => {
    const { engine } = await openEmbedded(context)
    const rows = await TableStore.create(checked(engine))
    await rows.put([{ p: 'a', c: 1, word: 'one', text: 'more' }])
    const asked = { ...query, filter: anyRow, sort: [], columns: [column('word')] }
    const { records } = await rows.engine.readRows(await rows.table(), asked, tester)
    assert.equal(records[0]!.get(column('word')), 'one')
    assert.throws(() => records[0]!.get(column('text')), /not asked for its column text/)
  })

  test('accepts records in any order, matching or not, when they are not marked as served', async (context) => {
    const store = await spoiled(context, (engine) => ({
      async read(target, _query, caller) {
        const all = { ...query, filter: everything, sort: by('-n') }
        const page = await engine.read(target, all, caller)
        return { ...page, served: { filter: false, sort: false } }
      },
    }))
    const wanted = { ...query, filter: where('n', 'gt', 8) }
    const page = await store.engine.read(store.target, wanted, tester)
    assert.equal(page.records.length, 3)
  })

  test('notices a wrong number of outcomes, and an outcome that the contract does not allow', async (context) => {
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [['done'], /one outcome per write/],
      [['conflict', 'done'], /an insert has no conflict/],
      [['done', 'skipped'], /number 1 was skipped, out of order/],
    ]
    for (const [outcomes, message] of cases) {
      const store = await spoiled(context, () => ({
        write: () => Promise.resolve(outcomes as ['done']),
      }))
      await assert.rejects(store.insert([{ _id: 8 }, { _id: 9 }]), message)
    }
  })

  test('notices a count above the requested maximum', async (context) => {
    const store = await spoiled(context, () => ({ count: () => Promise.resolve(6) }))
    await assert.rejects(store.count(everything, 5), /6 is beyond stopAt, which is 5/)
  })

  test('notices an engine that throws where it should return a promise', async (context) => {
    const store = await spoiled(context, () => ({
      estimateCount() {
        throw new EngineError('gone', 'books is gone')
      },
    }))
    await assert.rejects(
      store.engine.estimateCount(store.target),
      /estimateCount: threw at once instead of returning a promise/,
    )
  })

  test('notices an engine that answers after it was closed', async (context) => {
    const store = await spoiled(context, () => ({
      readSetting: () => Promise.resolve({ value: 'x', version: '1' }),
    }))
    await store.engine.close()
    await assert.rejects(store.engine.readSetting('x'), /refused as 'closed' after close/)
  })

  test('notices a setting version that is empty', async (context) => {
    const store = await spoiled(context, () => ({
      readSetting: () => Promise.resolve({ value: 'x', version: '' }),
      writeSetting: () => Promise.resolve(''),
    }))
    await assert.rejects(store.engine.readSetting('x'), /is not distinct/)
    await assert.rejects(store.engine.writeSetting('x', 'y', undefined), /is not distinct/)
  })

  test('notices a call to a watcher of settings after the watcher was stopped', async (context) => {
    let tell!: (name: string) => void
    const store = await spoiled(context, () => ({
      watchSettings(listener) {
        tell = listener
        return () => undefined
      },
    }))
    const heard: string[] = []
    const stop = store.engine.watchSettings((name) => heard.push(name))
    tell('x')
    stop()
    assert.throws(() => tell('y'), /called after it was stopped/)
    assert.deepEqual(heard, ['x'])
  })

  test('notices a plan that returns different changes when repeated, or an invalid change', async (context) => {
    const { engine } = await spoiled(context, () => ({}))
    const plan = (planned: SchemaPlan) => engine.changeSchema('default_keyspace', planned)
    let asked = 0
    await assert.rejects(
      plan(() => ({ kind: 'dropTarget', name: `${asked++}` })),
      /a plan changed its mind/,
    )
    await assert.rejects(
      plan(() => ({ kind: 'dropTarget', name: 'papers' })),
      /dropTarget: wrong names/,
    )
    await assert.rejects(
      plan(() => ({ kind: 'dropIndex', table: 'books', name: 'any' })),
      /dropIndex: wrong names/,
    )
    await assert.rejects(
      plan(() => ({ kind: 'createTable', name: 'books', ...noColumns })),
      /createTable: wrong names/,
    )
  })

  test('notices an invalid write by the caller', async (context) => {
    const store = await spoiled(context, () => ({}))
    const write = (given: Write) => store.engine.write(store.target, [given])
    const record = recordOf({ _id: 9, n: 1 })
    const before = await store.one(1)
    await assert.rejects(
      write({ kind: 'insert', record: { ...record, text: '{"_id":9,"n":2}' } }),
      /the document is not what it says/,
    )
    await assert.rejects(
      write({ kind: 'replace', before, beforeDocument: record.document, after: record }),
      /beforeDocument is not what the text before says/,
    )
    await assert.rejects(
      store.replace(before, { _id: 9 }),
      /a replace cannot change the _id 1/,
    )
    await assert.rejects(
      async () => store.engine.read(store.target, { ...query, limit: 0 }, tester),
      /limit must be 1 or more/,
    )
  })

  test('notices a position that was returned with another page', async (context) => {
    const store = await spoiled(context, () => ({}))
    const page = await store.engine.read(store.target, query, tester)
    const other = await store.engine.read(store.target, query, tester)
    assert.equal(
      page.positionAfter(page.records[0]!),
      other.positionAfter(other.records[0]!),
    )
    assert.throws(() => page.positionAfter(other.records[0]!), /not of this page/)
  })
})

test('a wrapped engine has the same members as the engine that it wraps', async (context) => {
  const { engine } = await openEmbedded(context)
  const front = around(engine, { listKeyspaces: () => Promise.resolve(['another']) })
  assert.deepEqual(await front.listKeyspaces(), ['another'])
  assert.deepEqual(Object.keys(front).toSorted(), Object.keys(engine).toSorted())
  assert.equal(front.operations, engine.operations)
})

function plain({ id, text, version }: StoredRecord): StoredRecord {
  return { id, text, version }
}

function change(record: StoredRecord, text: string): StoredRecord {
  return { ...plain(record), text }
}
