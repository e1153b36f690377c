/** An index in runs, and a plain sorted list with the expected content of the index. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { isElement } from '../../../../src/engine/embedded/runs/change.ts'
import type { Found } from '../../../../src/engine/embedded/runs/cursor.ts'
import {
  idIn,
  pathIn,
  valueIn,
  type EntryOwner,
  type Tie,
} from '../../../../src/engine/embedded/format/entry-key.ts'
import { runsSchema } from '../../../../src/engine/embedded/runs/layout.ts'
import {
  RunsReader,
  type Bound,
  type EntryRange,
} from '../../../../src/engine/embedded/runs/runs-reader.ts'
import {
  RunsWriter,
  type RunsWriterOptions,
} from '../../../../src/engine/embedded/runs/runs-writer.ts'
import { keyOf } from '../../../../src/language/values/key.ts'

/** Limits that make runs small: a few hundred entries fill several levels of many blocks. */
export const smallRuns = { recentMax: 40, fanout: 3, blockSize: 120, blocksMax: 3 }

export interface Expected {
  readonly path: number
  readonly value: Uint8Array
  readonly owner: EntryOwner
  readonly element: boolean
}

/** A file for an index, which is removed when the test ends. */
export function newFile(context: TestContext, tie: Tie): string {
  const folder = mkdtempSync(join(tmpdir(), 'stela-runs-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'store.db')
  const database = new DatabaseSync(file)
  database.exec(`PRAGMA journal_mode = WAL; ${runsSchema(tie)}`)
  database.close()
  return file
}

/** A write connection, which is closed when the test ends. */
export function openWriter(context: TestContext, file: string, options: RunsWriterOptions) {
  const database = new DatabaseSync(file)
  database.exec('PRAGMA synchronous = OFF')
  context.after(() => database.close())
  const writer = new RunsWriter(database, options)
  const commit = (work: () => void) => {
    database.exec('BEGIN IMMEDIATE')
    work()
    writer.finish()
    database.exec('COMMIT')
  }
  return { database, writer, commit }
}

/** A read connection. It opens one snapshot after another. */
export function openReader(context: TestContext, file: string) {
  const database = new DatabaseSync(file, { readOnly: true })
  context.after(() => database.close())
  const reader = new RunsReader(database, { cacheSize: 2_000 })
  const begin = () => {
    if (database.isTransaction) database.exec('COMMIT')
    database.exec('BEGIN')
    reader.begin()
  }
  return { reader, begin, end: () => database.exec('COMMIT') }
}

export type Below = (bound: number) => number

/** A generator of random numbers from a seed (mulberry32). */
export function randomBelow(seed: number): Below {
  let state = seed
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }
}

const odd = [0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff]

/** Keys of ordinary values, and unusual byte sequences: zero bytes, and prefixes of other keys. */
export function someValues(below: Below): Uint8Array[] {
  const plain = [
    null,
    true,
    0,
    5,
    -1,
    1e300,
    '',
    'a',
    'ab',
    'abc',
    'a\0',
    'é',
    [],
    new Map(),
  ]
  const values = plain.map(keyOf)
  for (let i = 0; i < 12; i++)
    values.push(
      Uint8Array.of(0x30, ...Array.from({ length: below(6) }, () => odd[below(6)]!)),
    )
  for (const zeros of [125, 126, 127, 128, 300]) {
    values.push(Buffer.concat([Uint8Array.of(0x30), Buffer.alloc(zeros)]))
    values.push(Buffer.concat([Uint8Array.of(0x30), Buffer.alloc(zeros), Buffer.from('x')]))
  }
  return values
}

export function compareEntries(a: Expected, b: Expected, tie: Tie): number {
  return (
    a.path - b.path ||
    Buffer.compare(a.value, b.value) ||
    (tie === 'doc' ? a.owner.seq - b.owner.seq : Buffer.compare(a.owner.id, b.owner.id))
  )
}

/** The expected content of an index. */
export class Oracle {
  readonly tie: Tie
  readonly #entries = new Map<string, Expected>()
  #sorted: readonly Expected[] | undefined

  constructor(tie: Tie) {
    this.tie = tie
  }

  copy(): Oracle {
    const copy = new Oracle(this.tie)
    for (const [name, entry] of this.#entries) copy.#entries.set(name, entry)
    return copy
  }

  get sorted(): readonly Expected[] {
    return (this.#sorted ??= [...this.#entries.values()].sort((a, b) =>
      compareEntries(a, b, this.tie),
    ))
  }

  find(entry: Expected): Expected | undefined {
    return this.#entries.get(nameOf(entry, this.tie))
  }

  put(entry: Expected): void {
    this.#entries.set(nameOf(entry, this.tie), entry)
    this.#sorted = undefined
  }

  remove(entry: Expected): void {
    this.#entries.delete(nameOf(entry, this.tie))
    this.#sorted = undefined
  }

  clear(): void {
    this.#entries.clear()
    this.#sorted = undefined
  }
}

function nameOf({ path, value, owner }: Expected, tie: Tie): string {
  const last = tie === 'doc' ? owner.seq : Buffer.from(owner.id).toString('hex')
  return `${path} ${Buffer.from(value).toString('hex')} ${last}`
}

/** Compares the results of random queries with the expected content. */
export function checkReads(
  reader: RunsReader,
  oracle: Oracle,
  { below, pick, times }: { below: Below; pick: () => Expected; times: number },
): void {
  const { sorted, tie } = oracle
  if (below(4) === 0) {
    const all = [1, 2, 3].flatMap((path) => [
      ...reader.inRange({ path, withElements: true }),
    ])
    assert.deepEqual(
      all.map((found) => saidBy(found, tie)),
      sorted.map((entry) => said(entry, tie)),
    )
  }
  for (let i = 0; i < times; i++) {
    const direction = below(2) === 0 ? 1 : -1
    const limit = 1 + below(8)
    const entry = pick()
    const { path, value, owner } = entry
    const isBeyond = (other: Expected, place: Expected) =>
      compareEntries(other, place, tie) * direction > 0
    const after = below(2) === 0 ? pick() : undefined

    const ofValue = sorted.filter((other) => isSameValue(other, entry))
    const follow = ofValue.filter(
      (other) => after === undefined || isBeyond(other, { ...entry, owner: after.owner }),
    )
    assertFound(
      reader.withValue(path, value, { direction, after: after?.owner }),
      direction === 1 ? follow : follow.toReversed(),
      { limit, tie },
    )
    assert.equal(reader.countValue(path, value), ofValue.length)
    if (tie === 'doc') {
      const from = after?.owner.seq ?? 0
      const numbers = ofValue.map((other) => other.owner.seq).filter((seq) => seq > from)
      assert.deepEqual([...reader.numbersWith(path, value, from)], numbers)
    }
    for (const withElements of [true, false]) {
      const listed = reader.documentsWith(path, value, withElements)
      const seqs = new Set(sorted.map(({ owner }) => owner.seq))
      assert.deepEqual(
        new Set([...seqs].filter((seq) => listed.has(seq))),
        new Set(
          ofValue
            .filter(({ element }) => withElements || !element)
            .map((other) => other.owner.seq),
        ),
      )
    }

    const range = randomRange(path, below, pick)
    const within = sorted.filter((other) => isWithin(other, range))
    const place = after && { value: after.value, owner: after.owner }
    const beyond = within.filter(
      (other) => after === undefined || isBeyond(other, { ...after, path }),
    )
    const inOrder = direction === 1 ? beyond : beyond.toReversed()
    assertFound(reader.inRange(range, { direction, after: place }), inOrder, { limit, tie })
    const wanted = new Set<number>()
    for (let j = below(8); j > 0; j--) wanted.add(pick().owner.seq)
    const only = { documents: wanted, passing: () => undefined }
    // `inRange` applies `only` if entries end with document numbers. If entries end with row ids,
    // it returns all entries.
    const isPicked = ({ owner: { seq } }: Expected) => tie === 'id' || wanted.has(seq)
    assertFound(
      reader.inRange(range, { direction, after: place, only }),
      inOrder.filter(isPicked),
      { limit, tie },
    )
    assert.equal(reader.countRange(range), within.length)
    const about = reader.countRange(range, 5)
    if (about !== within.length) assert(about > 5)

    const found = reader.find(path, value, owner)
    const expected = oracle.find(entry)
    assert.equal(found && saidBy(found, tie), expected && said(expected, tie))
  }
}

function randomRange(path: number, below: Below, pick: () => Expected): EntryRange {
  const bound = (): Bound | undefined => {
    if (below(4) === 0) return undefined
    const { value } = pick()
    const key = below(3) === 0 ? value.subarray(0, 1) : value
    return { key, inclusive: below(2) === 0 }
  }
  const [low, high] = [bound(), bound()]
  return {
    path,
    ...(low && { low }),
    ...(high && { high }),
    withElements: below(2) === 0,
  }
}

function isWithin(entry: Expected, { path, low, high, withElements }: EntryRange): boolean {
  if (entry.path !== path || (entry.element && withElements !== true)) return false
  const isAbove = low === undefined || isBeyond(entry.value, low, 1)
  return isAbove && (high === undefined || isBeyond(entry.value, high, -1))
}

function isBeyond(value: Uint8Array, { key, inclusive }: Bound, direction: 1 | -1) {
  const order = Buffer.compare(value, key) * direction
  return inclusive ? order >= 0 : order > 0
}

function isSameValue(a: Expected, b: Expected): boolean {
  return a.path === b.path && Buffer.compare(a.value, b.value) === 0
}

function assertFound(
  found: Iterable<Found>,
  expected: readonly Expected[],
  { limit, tie }: { limit: number; tie: Tie },
): void {
  const first: string[] = []
  for (const entry of found) {
    first.push(saidBy(entry, tie))
    if (first.length === limit) break
  }
  assert.deepEqual(
    first,
    expected.slice(0, limit).map((entry) => said(entry, tie)),
  )
}

function saidBy({ key, state, doc }: Found, tie: Tie): string {
  const owner = { seq: doc, id: tie === 'id' ? idIn(key) : new Uint8Array() }
  const entry = { path: pathIn(key), value: valueIn(key), owner, element: isElement(state) }
  return said(entry, tie)
}

function said({ path, value, owner, element }: Expected, tie: Tie): string {
  const id = tie === 'id' ? ` ${Buffer.from(owner.id).toString('hex')}` : ''
  const key = Buffer.from(value).toString('hex')
  return `${path} ${element ? 'has' : '='} ${key} ${owner.seq}${id}`
}
