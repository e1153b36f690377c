import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { DocumentSet } from '../../../../src/engine/embedded/runs/document-set.ts'
import {
  entryKey,
  spanOf,
  tieText,
  valueStart,
  type Tie,
} from '../../../../src/engine/embedded/format/entry-key.ts'
import { ListedValues } from '../../../../src/engine/embedded/runs/listed-values.ts'
import { keyOf } from '../../../../src/language/values/key.ts'
import {
  checkReads,
  newFile,
  openReader,
  openWriter,
  Oracle,
  randomBelow,
  smallRuns,
  someValues,
  type Below,
  type Expected,
} from './runs-world.ts'

/** Set SEED to repeat a failed run. */
const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

const ties: readonly Tie[] = ['doc', 'id']

/** Random entries with few documents and values, so that the same entry occurs repeatedly. */
function entriesBy(below: Below): () => Expected {
  const values = someValues(below)
  return () => {
    const document = 1 + below(40)
    return {
      path: 1 + below(3),
      value: values[below(values.length)]!,
      owner: { seq: document * 1000, id: keyOf(`row ${document}`) },
      element: below(3) === 0,
    }
  }
}

type Opened = ReturnType<typeof openWriter>

/** Changes random entries: removes existing ones, adds absent ones, and sometimes replaces one. */
function changeSome(
  { writer }: Opened,
  oracle: Oracle,
  pick: () => Expected,
  below: Below,
) {
  for (let i = below(30); i >= 0; i--) {
    const entry = pick()
    const found = oracle.find(entry)
    if (found !== undefined) {
      writer.remove(found.path, spanOf(found.value), found.owner, found.element)
      oracle.remove(found)
    }
    if (found !== undefined && below(3) > 0) continue
    // In an index of rows, a row that is created again gets a new number.
    const seq = oracle.tie === 'doc' ? entry.owner.seq : 1 + below(1_000_000)
    const added = { ...entry, owner: { ...entry.owner, seq } }
    writer.put(added.path, spanOf(added.value), added.owner, added.element)
    oracle.put(added)
  }
}

function start(context: TestContext, tie: Tie) {
  context.diagnostic(`SEED=${seed}`)
  const below = randomBelow(seed)
  const file = newFile(context, tie)
  const open = () => openWriter(context, file, smallRuns)
  return { below, file, open, pick: entriesBy(below), oracle: new Oracle(tie) }
}

for (const tie of ties)
  describe(`an index in runs, with entries ordered by ${tie}`, () => {
    test('equals a sorted list in every snapshot of a reader', (context) => {
      const { below, file, open, pick, oracle } = start(context, tie)
      const opened = open()
      const old = openReader(context, file)
      const latest = openReader(context, file)
      old.begin()
      let snapshot = oracle.copy()
      let deepest = 0
      for (let round = 0; round < 60; round++) {
        opened.commit(() => changeSome(opened, oracle, pick, below))
        for (let steps = below(4); steps > 0; steps--)
          opened.commit(() => void opened.writer.step())
        deepest = Math.max(deepest, opened.writer.debt().levels)
        latest.begin()
        const ask = { below, pick, times: 6 }
        checkReads(latest.reader, oracle, ask)
        checkReads(opened.writer.reader, oracle, { ...ask, times: 1 })
        checkReads(old.reader, snapshot, { ...ask, times: 2 })
        if (below(6) === 0) {
          old.begin()
          snapshot = oracle.copy()
        }
        if (round === 52) {
          opened.commit(() => opened.writer.clear())
          oracle.clear()
        }
      }
      assert.ok(deepest >= 2, `only ${deepest} levels`)
    })

    test('is intact after every merge step, and after a transaction that was rolled back', (context) => {
      const { below, open, pick, oracle } = start(context, tie)
      let opened = open()
      const wanted = ['made 0', 'making 0', 'dropped 0', 'made 1', 'making 1', 'dropped 1']
      const seen = new Set<string>()
      const isAllSeen = () => wanted.every((state) => seen.has(state))
      for (let round = 0; round < 25 || (round < 150 && !isAllSeen()); round++) {
        opened.commit(() => changeSome(opened, oracle, pick, below))
        for (let steps = 0; steps < 3; steps++) {
          // Simulates a crash: the next process sees only committed data.
          opened = open()
          opened.database.exec('BEGIN IMMEDIATE')
          changeSome(opened, oracle.copy(), pick, below)
          opened.writer.finish()
          opened.writer.step()
          opened.database.exec('ROLLBACK')
          opened = open()
          opened.commit(() => void opened.writer.step())
          const rows = opened.database.prepare('SELECT level, state FROM run').all()
          for (const { level, state } of rows) seen.add(`${String(state)} ${String(level)}`)
          checkReads(opened.writer.reader, oracle, { below, pick, times: 1 })
        }
      }
      assert.ok(isAllSeen(), `stopped only with runs ${[...seen].join(', ')}`)
    })
  })

describe('runs of index entries', () => {
  test('contain few entries that were added and later removed', (context) => {
    const { open } = start(context, 'doc')
    const { writer, commit, database } = open()
    const owner = { seq: 7, id: new Uint8Array() }
    commit(() => writer.put(1, spanOf(keyOf(0)), owner, false))
    // The document has a counter, and each commit changes the value of the counter.
    for (let n = 1; n < 1000; n++)
      commit(() => {
        writer.remove(1, spanOf(keyOf(n - 1)), owner, false)
        writer.put(1, spanOf(keyOf(n)), owner, false)
        if (n % 10 === 0) writer.flush()
        writer.keepUp()
      })
    while (writer.step() !== undefined);
    const { runs } = writer.reader
    const entries = runs.reduce((sum, run) => sum + run.entries, 0)
    assert.ok(entries <= 2 * smallRuns.fanout + 1, `${entries} entries are left of one`)
    assert.equal(writer.reader.countRange({ path: 1 }), 1)
    assert.ok(Number(database.prepare('SELECT count(*) AS n FROM block').get()!['n']) < 10)
  })

  test('are few, and the merge debt is bounded, when merge steps keep up', (context) => {
    const { open, below } = start(context, 'doc')
    const { writer, commit } = open()
    const { recentMax, fanout } = smallRuns
    const commits = 400
    for (let n = 1; n <= commits; n++) {
      commit(() => {
        for (let i = 0; i < 10; i++)
          writer.put(1, spanOf(keyOf(below(1e9))), { seq: n, id: new Uint8Array() }, false)
        writer.finish()
        writer.keepUp()
      })
      const { recent, runs, levels, waiting } = writer.debt()
      assert.ok(recent <= recentMax + 10)
      assert.ok(levels <= 1 + Math.log(commits) / Math.log(fanout))
      assert.ok(runs <= 2 * fanout * levels, `${runs} runs on ${levels} levels`)
      assert.ok(waiting <= 20 * n, `${waiting} entries wait of ${10 * n}`)
    }
    assert.ok(writer.debt().levels >= 4)
    assert.equal(writer.reader.countRange({ path: 1 }), 10 * commits)
  })

  test('encode the key of a value that is longer than all earlier values', () => {
    const long = keyOf('x'.repeat(1_000_000))
    const start = valueStart(7, long)
    const owner = { seq: 1, id: new Uint8Array() }
    assert.ok(entryKey(7, long, owner, 'doc') === start + tieText(owner, 'doc'))
  })

  test('include the changes of the current transaction in lookups by the writer', (context) => {
    const { open } = start(context, 'doc')
    const { writer, commit } = open()
    const owner = { seq: 1, id: new Uint8Array() }
    commit(() => {
      assert.equal(writer.has(1, keyOf('a'), owner), false)
      writer.put(1, spanOf(keyOf('a')), owner, true)
      assert.equal(writer.has(1, keyOf('a'), owner), true)
      assert.equal(writer.has(1, keyOf('ab'), owner), false)
      writer.remove(1, spanOf(keyOf('a')), owner, true)
      assert.equal(writer.has(1, keyOf('a'), owner), false)
    })
  })
})

test('an index lists the documents of values of any length, with any document numbers', (context) => {
  const { below, file } = start(context, 'doc')
  // Large blocks contain dozens of entries. Most entries then differ only in the last bytes of the
  // document number.
  const opened = openWriter(context, file, { ...smallRuns, blockSize: 600 })
  const seqs = new Set([1, 2 ** 32 - 1, 2 ** 32, 2 ** 40 - 1])
  while (seqs.size < 150) {
    const scale = 2 ** [8, 12, 20, 31, 33, 39][below(6)]!
    seqs.add(1 + Math.floor((below(2 ** 31) / 2 ** 31) * scale))
  }
  const values = [0, 1, 60, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 300].map(
    (length) => keyOf('x'.repeat(length)),
  )
  const having = values.map(() => new Set<number>())
  for (let round = 0; round < 6; round++) {
    opened.commit(() => {
      for (const seq of seqs)
        having.forEach((documents, i) => {
          if (below(3) > 0) return
          const entry = [
            1,
            spanOf(values[i]!),
            { seq, id: new Uint8Array() },
            false,
          ] as const
          if (documents.delete(seq)) opened.writer.remove(...entry)
          else {
            documents.add(seq)
            opened.writer.put(...entry)
          }
        })
    })
    while (below(4) > 0) opened.commit(() => void opened.writer.step())
    having.forEach((documents, i) => {
      const listed = opened.writer.reader.documentsWith(1, values[i]!, true)
      assert.deepEqual(new Set([...seqs].filter((seq) => listed.has(seq))), documents)
    })
  }
})

test('an index lists the current documents of a common value, even if it cached an earlier list', (context) => {
  const { below, file } = start(context, 'doc')
  const opened = openWriter(context, file, { ...smallRuns, recentMax: 300, blockSize: 600 })
  const seqs = Array.from({ length: 1_500 }, (_, i) => 1 + i * (1 + below(40)))
  const value = keyOf('common')
  /** The documents that have the value, each with a flag: whether the value is an element. */
  const having = new Map<number, boolean>()
  for (let round = 0; round < 30; round++) {
    opened.commit(() => {
      for (const seq of new Set(seqs)) {
        // The first round makes many changes and later rounds few, so that some rounds change no
        // run.
        if (below(round === 0 ? 2 : 10) > 0) continue
        const owner = { seq, id: new Uint8Array() }
        const known = having.get(seq)
        if (known === undefined) {
          const element = below(2) === 0
          opened.writer.put(1, spanOf(value), owner, element)
          having.set(seq, element)
        } else {
          opened.writer.remove(1, spanOf(value), owner, known)
          having.delete(seq)
        }
      }
    })
    while (below(3) > 0) opened.commit(() => void opened.writer.step())
    for (const withElements of [true, false, true, false]) {
      const listed = opened.writer.reader.documentsWith(1, value, withElements)
      const expected = [...having].filter(([, element]) => withElements || !element)
      assert.deepEqual(
        new Set(seqs.filter((seq) => listed.has(seq))),
        new Set(expected.map(([seq]) => seq)),
      )
      const { reader } = opened.writer
      const numbers = [...having.keys()].sort((a, b) => a - b)
      assert.deepEqual([...reader.listWith(1, value)!], numbers)
      assert.equal(reader.countValue(1, value), numbers.length)
    }
  }
})

test('a walk for few documents skips the entries of other documents, and reports their number', (context) => {
  const { file } = start(context, 'doc')
  const opened = openWriter(context, file, { recentMax: 40 })
  const count = 3_000
  opened.commit(() => {
    for (let seq = 1; seq <= count; seq++)
      opened.writer.put(
        1,
        spanOf(keyOf((seq * 7) % 1_000)),
        { seq, id: new Uint8Array() },
        false,
      )
  })
  while (opened.writer.step() !== undefined);
  const documents = new Set([10, 1_500, 2_999])
  for (const direction of [1, -1] as const) {
    const told: number[] = []
    const only = { documents, passing: (entries: number) => void told.push(entries) }
    const walked = [...opened.writer.reader.inRange({ path: 1 }, { direction, only })]
    assert.deepEqual(new Set(walked.map(({ doc }) => doc)), documents)
    const passed = told.reduce((sum, entries) => sum + entries)
    // A walk does not report the skipped entries at the end of the last block.
    const missing = count - walked.length - passed
    assert(missing >= 0 && missing < 400, `${missing} were not told`)
    // The walk reports often enough that an aborted walk ends soon.
    assert(Math.max(...told) < 1_000, `${Math.max(...told)} at once`)
    assert(told.length < count / 50, `told ${told.length} times`)
  }
})

test(`a document set equals a plain Set, seed ${seed}`, () => {
  const below = randomBelow(seed)
  for (let run = 0; run < 40; run++) {
    const plain = new Set<number>()
    const documents = new DocumentSet([undefined, 0, 1, 5, 300][below(5)])
    const scale = [50, 5_000, 2 ** 20, 2 ** 32, 2 ** 40][below(5)]!
    const any = () => Math.floor((below(2 ** 31) / 2 ** 31) * scale)
    for (let i = below(2_000); i > 0; i--) {
      const document = any()
      if (below(4) === 0) {
        plain.delete(document)
        documents.delete(document)
      } else {
        plain.add(document)
        documents.add(document)
      }
    }
    for (const document of plain) assert(documents.has(document))
    for (let i = 0; i < 500; i++) {
      const document = any()
      assert.equal(documents.has(document), plain.has(document))
    }
    const numbers = documents.numbers()
    if (numbers === undefined) {
      assert.equal(scale, 2 ** 40)
      continue
    }
    const expected = Uint32Array.from(plain).sort()
    assert.deepEqual(numbers.slice().sort(), expected)
    const same = new DocumentSet(documents.chunkCount)
    same.addAll(numbers)
    assert.deepEqual(same.numbers()!.sort(), expected)
  }
})

test('the cache of lists evicts the oldest lists', () => {
  const lists = new ListedValues()
  let made = 0
  const list = (name: string, size: number) =>
    lists.documents(name, (documents) => {
      made++
      for (let i = 0; i < size; i++) documents.add(7 * i)
    })
  list('a', 600_000)
  list('b', 400_000)
  list('a', 600_000)
  assert.equal(made, 2)
  list('c', 100_000)
  assert(list('b', 400_000).has(7 * 399_999))
  assert.equal(made, 3)
  list('a', 600_000)
  // The cache rejects short lists, and lists of large document numbers.
  for (const first of [1, 2 ** 40])
    for (let i = 0; i < 2; i++)
      lists.documents(`from ${first}`, (documents) => {
        made++
        for (let j = 0; j < (first === 1 ? 100 : 1_000); j++) documents.add(first + j)
      })
  assert.equal(made, 8)
  lists.clear()
  list('a', 600_000)
  assert.equal(made, 9)
})
