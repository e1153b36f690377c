/** Backups of the embedded engine: consistency, incremental transfer, and cleanup. */
import assert from 'node:assert/strict'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import type { BackupPart } from '../../../../src/engine/backup.ts'
import { checkDataFolder } from './check-data-folder.ts'
import type { Engine } from '../../../../src/engine/contract.ts'
import { EngineError } from '../../../../src/engine/errors.ts'
import { openEmbedded } from '../embedded-store.ts'
import { TakenBackups, withEngine } from './restored.ts'
import { createCollection, dropTarget, noSignal, Store } from '../../store.ts'
import { onVector, onWord, TableStore } from '../../table-store.ts'
import { putSetting, settingOf } from '../../settings.ts'

const keyspace = 'default_keyspace'

describe('a backup', () => {
  test('contains documents, rows, indexes, types and settings', async (context) => {
    const { engine } = await openEmbedded(context)
    const backups = new TakenBackups(context)
    const documents = await Store.create(engine, 'documents')
    await documents.insert([
      { _id: 1, a: 'one' },
      { _id: 2, a: 'two' },
    ])
    const rows = await TableStore.create(engine)
    await rows.addIndex(onWord)
    await rows.addIndex({ ...onVector, metric: 'cosine' })
    await rows.put([
      { p: 'a', c: 1, word: 'x', v: [1, 0] },
      { p: 'a', c: 2, word: 'y', v: [0, 1] },
    ])
    assert.deepEqual(await rows.searchVector([0, 1], undefined, 1), ['a 2'])
    const fields = [{ name: 'one', type: 'int' } as const]
    await engine.changeSchema(keyspace, () => ({
      kind: 'createType',
      name: 'pair',
      fields,
    }))
    await engine.createKeyspace('empty')
    await putSetting(engine, 'motto', 'stone')
    const restored = await backups.restore(await backups.take(engine))
    assert.deepEqual(checkDataFolder(restored), [])
    await withEngine(restored, async (copy) => {
      assert.deepEqual((await copy.listKeyspaces()).toSorted(), [keyspace, 'empty'])
      assert.deepEqual(await copy.readSchema(keyspace), await engine.readSchema(keyspace))
      assert.equal(await settingOf(copy, 'motto'), 'stone')
      assert.deepEqual(await (await Store.find(copy, 'documents')).ids(), [1, 2])
      const table = new TableStore(copy, 'rows')
      assert.deepEqual(await table.find(), ['a 2', 'a 1'])
      // The backup has no vector indexes; the restored engine builds them again.
      assert.deepEqual(await table.searchVector([1, 0], undefined, 1), ['a 1'])
    })
    assert.deepEqual(checkDataFolder(restored), [])
  })

  test('is a consistent snapshot while data is written', async (context) => {
    const { engine } = await openEmbedded(context)
    const backups = new TakenBackups(context)
    const first = await Store.create(engine, 'first')
    const second = await Store.create(engine, 'second')
    let stopped = false
    const filler = 'x'.repeat(2000)
    const writers = [1, 2, 3]
    const noting = 3

    // Each write starts after the previous one was acknowledged.
    const write = async (writer: number) => {
      for (let n = 0; !stopped; n++) {
        const document = { _id: `${writer} ${n}`, n, filler }
        await first.insert([document])
        await second.insert([document])
        // A backup briefly blocks writes of settings. So only one of the three writers writes
        // settings.
        if (writer === noting) await putSetting(engine, 'noted', String(n))
      }
    }
    const changeSchema = async () => {
      for (let n = 0; !stopped; n++) {
        await createCollection(engine, `passing_${n % 3}`)
        const passing = await Store.find(engine, `passing_${n % 3}`)
        await passing.insert([{ _id: n }])
        await putSetting(engine, 'passing', String(n))
        await dropTarget(engine, passing.target)
      }
    }
    const work = Promise.all([...writers.map(write), changeSchema()])
    const restored: string[] = []
    try {
      for (let round = 0; round < 4; round++)
        restored.push(await backups.restore(await backups.take(engine)))
    } finally {
      stopped = true
      await work
    }
    let countBefore = -1
    for (const dataDir of restored) {
      assert.deepEqual(checkDataFolder(dataDir), [])
      await withEngine(dataDir, async (copy) => {
        const idsOf = async (name: string) =>
          (await (await Store.find(copy, name)).ids({}, 500)) as string[]
        const [one, two] = [await idsOf('first'), await idsOf('second')]
        for (const writer of writers) {
          const countOf = (ids: readonly string[]) =>
            ids.filter((id) => id.startsWith(`${writer} `)).length
          const [a, b] = [countOf(one), countOf(two)]
          // A writer inserts into "first" before "second", so the numbers of its documents
          // in both are equal or differ by 1.
          assert(a === b || a === b + 1, `not of one moment: ${a}, ${b}`)
          if (writer !== noting) continue
          const c = Number((await settingOf(copy, 'noted')) ?? -1) + 1
          assert(b >= c && a <= c + 1, `not of one moment: ${a}, ${b}, ${c}`)
        }
        const passing = await settingOf(copy, 'passing')
        for (const target of (await copy.listTargets(keyspace)) ?? [])
          if (target.kind === 'collection' && target.name.startsWith('passing')) {
            const [id] = await new Store(copy, target).ids()
            const n = Number(passing ?? -1)
            assert(id === undefined || id === n || id === n + 1, `${String(id)} after ${n}`)
          }
        assert(one.length >= countBefore)
        countBefore = one.length
      })
    }
    assert(countBefore > 0)
  })

  test('omits unchanged files that the caller already has, and sends the changed ones', async (context) => {
    const { engine, dataDir } = await openEmbedded(context)
    const backups = new TakenBackups(context)
    const changing = await Store.create(engine, 'changing')
    const resting = await Store.create(engine, 'resting')
    const rows = await TableStore.create(engine)
    await changing.insert([{ _id: 1 }])
    await resting.insert([{ _id: 1 }])
    await rows.put([{ p: 'a', c: 1, word: 'x' }])
    const sentNames = ({ sent, contents }: Awaited<ReturnType<TakenBackups['take']>>) =>
      [
        ...contents.stores.filter(({ key }) => sent.includes(key)).map(({ name }) => name),
        ...(sent.includes(contents.catalog.key) ? ['catalog'] : []),
      ].toSorted()
    assert.deepEqual(sentNames(await backups.take(engine)), [
      'catalog',
      'changing',
      'resting',
      'rows',
    ])
    assert.deepEqual(sentNames(await backups.take(engine)), [])
    await changing.insert([{ _id: 2 }])
    assert.deepEqual(sentNames(await backups.take(engine)), ['changing'])
    // Creating an index changes the store file, although no row is written. So the next backup must
    // contain the file.
    await rows.addIndex(onWord)
    assert.deepEqual(sentNames(await backups.take(engine)), ['catalog', 'rows'])
    await engine.truncate(resting.target)
    assert.deepEqual(sentNames(await backups.take(engine)), ['resting'])
    await engine.close()
    // When the engine closes, it records the versions of changed stores in the catalog.
    await withEngine(dataDir, async (again) => {
      assert.deepEqual(sentNames(await backups.take(again)), ['catalog'])
    })
    await withEngine(dataDir, async (again) => {
      assert.deepEqual(sentNames(await backups.take(again)), [])
      assert.equal((await (await Store.find(again, 'changing')).ids()).length, 2)
      await (await Store.find(again, 'resting')).insert([{ _id: 9 }])
      const last = await backups.take(again)
      assert.deepEqual(sentNames(last), ['resting'])
      assert.deepEqual(checkDataFolder(await backups.restore(last)), [])
    })
  })

  test('distinguishes different writes that were made to two copies of one folder', async (context) => {
    const { engine, dataDir } = await openEmbedded(context)
    const backups = new TakenBackups(context)
    const store = await Store.create(engine, 'books')
    await store.insert([{ _id: 1 }])
    await engine.close()
    const earlier = join(backups.folder, 'earlier')
    cpSync(dataDir, earlier, { recursive: true })
    // Both folders get the same number of writes, with different content.
    const writeAndTake = (folder: string, id: string) =>
      withEngine(folder, async (opened) => {
        await (await Store.find(opened, 'books')).insert([{ _id: id }])
        return backups.take(opened)
      })
    const one = await writeAndTake(dataDir, 'this way')
    const other = await writeAndTake(earlier, 'that way')
    assert.equal(one.sent.length + other.sent.length, 3)
    const idsIn = async (taken: typeof one) =>
      withEngine(await backups.restore(taken), async (copy) =>
        (await Store.find(copy, 'books')).ids(),
      )
    assert.deepEqual(await idsIn(one), [1, 'this way'])
    assert.deepEqual(await idsIn(other), [1, 'that way'])
  })

  test('blocks no writes while it is read', async (context) => {
    const { engine, dataDir } = await openEmbedded(context)
    const backups = new TakenBackups(context)
    const store = await Store.create(engine, 'books')
    await store.insert([{ _id: 1 }])
    await (await Store.create(engine, 'dropped')).insert([{ _id: 'old' }])
    const parts = engine.operations!.backup(new Set(), noSignal)[Symbol.asyncIterator]()
    assert.equal((await next(parts)).kind, 'begin')
    // Writes, drops and creations are acknowledged while the test does not read the backup.
    await store.insert([{ _id: 2 }])
    await dropTarget(engine, (await Store.find(engine, 'dropped')).target)
    await (await Store.create(engine, 'dropped')).insert([{ _id: 'new' }])
    await putSetting(engine, 'later', 'yes')
    const operations = { ...engine.operations!, backup: () => rest(parts) }
    const taken = await backups.take({ ...engine, operations })
    await withEngine(await backups.restore(taken), async (copy) => {
      assert.deepEqual(await (await Store.find(copy, 'books')).ids(), [1])
      assert.deepEqual(await (await Store.find(copy, 'dropped')).ids(), ['old'])
      assert.equal(await settingOf(copy, 'later'), undefined)
    })
    assert.deepEqual(await (await Store.find(engine, 'dropped')).ids(), ['new'])
    await engine.close()
    assert.deepEqual(checkDataFolder(dataDir), [])
  })

  test('leaves no files when it is abandoned or aborted, or when the engine closes', async (context) => {
    const { engine, dataDir, fileOf } = await openEmbedded(context)
    const store = await Store.create(engine, 'books')
    await store.insert([{ _id: 1, text: 'x'.repeat(10_000) }])
    const copies = () => readdirSync(dataDir).filter((name) => name.startsWith('backup'))

    for await (const part of engine.operations!.backup(new Set(), noSignal)) {
      assert.equal(copies().length, 1)
      if (part.kind === 'file') break
    }
    assert.deepEqual(copies(), [])
    await store.insert([{ _id: 2 }])
    // A backup that ended holds no snapshot. Otherwise the log could not be truncated.
    const file = new DatabaseSync(fileOf('books'))
    assert.equal(file.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()!['busy'], 0)
    file.close()

    const given = new AbortController()
    const parts = engine.operations!.backup(new Set(), given.signal)[Symbol.asyncIterator]()
    await next(parts)
    given.abort()
    await assert.rejects(drain(parts), { name: 'AbortError' })
    assert.deepEqual(copies(), [])
    const aborted = engine
      .operations!.backup(new Set(), given.signal)
      [Symbol.asyncIterator]()
    await assert.rejects(drain(aborted), { name: 'AbortError' })

    const open = engine.operations!.backup(new Set(), noSignal)[Symbol.asyncIterator]()
    await next(open)
    await engine.close()
    assert.deepEqual(copies(), [])
    await assert.rejects(drain(open), isClosed)
    const late = engine.operations!.backup(new Set(), noSignal)[Symbol.asyncIterator]()
    await assert.rejects(drain(late), isClosed)
  })

  test('that was interrupted by a crash is removed at the next start', async (context) => {
    const { engine, dataDir } = await openEmbedded(context)
    await engine.close()
    const left = join(dataDir, 'backup.partial-2f6d0c1e-94a7-4b52-8d3f-0e6a1b7c9d20')
    mkdirSync(left)
    writeFileSync(join(left, 'store'), 'half of it')
    await withEngine(dataDir, () => Promise.resolve())
    assert(!readdirSync(dataDir).some((name) => name.startsWith('backup')))
  })

  test('fails and names the store when a store cannot be read', async (context) => {
    const { engine, dataDir, fileOf } = await openEmbedded(context)
    const backups = new TakenBackups(context)
    await (await Store.create(engine, 'sound')).insert([{ _id: 1 }])
    await (await Store.create(engine, 'broken')).insert([{ _id: 1 }])
    await engine.close()
    const bytes = readFileSync(fileOf('broken'))
    writeFileSync(fileOf('broken'), bytes.fill(0xff, 200, bytes.length))
    await withEngine(dataDir, async (again) => {
      await assert.rejects(backups.take(again), (error: unknown) => {
        assert(error instanceof EngineError)
        assert.match(
          error.message,
          /^the backup failed: default_keyspace.broken cannot be read: /,
        )
        return true
      })
      // Other stores remain writable.
      await (await Store.find(again, 'sound')).insert([{ _id: 2 }])
    })
    assert(!readdirSync(dataDir).some((name) => name.startsWith('backup')))
  })
})

describe('restoring', () => {
  test('rejects files that differ from the backup, and leaves no usable data folder', async (context) => {
    const { engine } = await openEmbedded(context)
    const backups = new TakenBackups(context)
    const store = await Store.create(engine, 'books')
    await store.insert([{ _id: 1 }])
    const taken = await backups.take(engine)
    const path = backups.pathOf(taken.contents.stores[0]!.key)
    const sound = readFileSync(path)
    const changed = Buffer.from(sound)
    changed[changed.length - 1]! ^= 1
    writeFileSync(path, changed)
    await assert.rejects(backups.restore(taken), isDamaged(/was changed after the backup/))
    truncateSync(path, 5000)
    await assert.rejects(backups.restore(taken), isDamaged(/has 5000 bytes, but \d+ were/))
    // The engine refuses to open the partial folder that the failed restore left.
    await assert.rejects(
      withEngine(join(backups.folder, 'restored-2'), () => Promise.resolve()),
      isDamaged(/catalog\.db is missing, but the folder contains data/),
    )
    writeFileSync(path, sound)
    await assert.rejects(
      backups.restore({ ...taken, contents: { ...taken.contents, stores: [] } }),
      isDamaged(/the backup has no file for default_keyspace.books/),
    )
    assert.deepEqual(checkDataFolder(await backups.restore(taken)), [])
  })

  test('rejects a store that was damaged before the backup', async (context) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'stela-engine-'))
    context.after(() => rmSync(dataDir, { recursive: true }))
    const backups = new TakenBackups(context)
    const file = join(dataDir, keyspace, 'books', 'store.db')
    await withEngine(dataDir, async (engine) => {
      const store = await Store.create(engine, 'books')
      await store.insert(
        Array.from({ length: 300 }, (_, i) => ({ _id: i, text: 'x'.repeat(500) })),
      )
    })
    const bytes = readFileSync(file)
    // The last page of the file holds documents or an index of them.
    writeFileSync(file, bytes.fill(0xff, bytes.length - 4096, bytes.length))
    const taken = await withEngine(dataDir, (engine: Engine) => backups.take(engine))
    await assert.rejects(
      backups.restore(taken),
      isDamaged(/was already damaged when it was backed up: /),
    )
  })
})

function isClosed(error: unknown): boolean {
  return error instanceof EngineError && error.kind === 'closed'
}

function isDamaged(message: RegExp) {
  return (error: unknown): boolean => {
    assert(error instanceof EngineError)
    assert.equal(error.kind, 'damaged')
    assert.match(error.message, message)
    return true
  }
}

async function next(parts: AsyncIterator<BackupPart>): Promise<BackupPart> {
  const result = await parts.next()
  assert(result.done !== true)
  return result.value
}

async function* rest(parts: AsyncIterator<BackupPart>): AsyncGenerator<BackupPart> {
  for (;;) {
    const result = await parts.next()
    if (result.done === true) return
    yield result.value
  }
}

async function drain(parts: AsyncIterator<BackupPart>): Promise<void> {
  while ((await parts.next()).done !== true);
}
