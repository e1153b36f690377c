/** Random changes of a client's own rows, by every command that changes rows. */
import { expectCodes, expectText } from './document-writes.ts'
import { times, words, type Json } from './random-documents.ts'
import { canonical, type Given, type RowBook, type RowState } from './row-book.ts'
import { columnKinds, sortedSet, type Cell } from './table-shape.ts'
import { Unexplained } from './unexplained.ts'

const rowsMax = 120

export function writeRows(book: RowBook): Promise<void> {
  const { random, ledger } = book
  if (ledger.size < 8) return random.pick([insertOne, insertMany])(book)
  if (ledger.size > rowsMax) return deleteMany(book)
  return random.pick([
    insertOne,
    insertMany,
    insertMany,
    insertOver,
    updateOne,
    updateOne,
    updateOne,
    deleteOne,
    deleteMany,
  ])(book)
}

async function insertOne(book: RowBook): Promise<void> {
  await insertRow(book, book.newRow())
}

/**
 * Inserts a row with an existing key. Columns that the insert does not mention keep their values.
 */
async function insertOver(book: RowBook): Promise<void> {
  const given = book.newRow()
  for (const [name, cell] of Object.entries(book.exactly(book.someRow().cells)))
    given.set(name, cell as Cell)
  await insertRow(book, given)
}

async function insertRow(book: RowBook, given: Given): Promise<void> {
  const key = book.keyOf(given)
  const command = { insertOne: { document: Object.fromEntries(given) } }
  await book.change({
    command,
    touched: new Map([[key, book.written(book.ledger.get(key), given, true)]]),
    check(answer) {
      expectCodes(answer, [], command)
      const ids = answer.body.status!['insertedIds']
      if (canonical(ids) !== `[${key}]`)
        throw new Unexplained('other ids', { command, answer: answer.text, expected: key })
    },
  })
}

/** Inserts many rows, sometimes including one that the table rejects. */
async function insertMany(book: RowBook): Promise<void> {
  const { random } = book
  const rows = times(1 + random.below(20), () => book.newRow())
  const bad = random.oneIn(6) ? random.below(rows.length) : undefined
  const documents: Json[] = rows.map((row) => Object.fromEntries(row))
  if (bad !== undefined) documents[bad] = { ...documents[bad], 'no such column': 1 }
  const ordered = random.oneIn(2)
  const isWritten = (position: number) =>
    bad === undefined || (ordered ? position < bad : position !== bad)
  const written = rows.filter((_, position) => isWritten(position))
  const touched = new Map<string, RowState | undefined>()
  for (const given of written) {
    const key = book.keyOf(given)
    touched.set(key, book.written(touched.get(key) ?? book.ledger.get(key), given, true))
  }
  // Two inserts with the same key write the same row, whose state would then be ambiguous. So
  // batches with equal keys are skipped.
  const isPlain = touched.size === written.length
  const command = { insertMany: { documents, options: { ordered } } }
  if (!isPlain) return
  await book.change({
    command,
    touched,
    mayBe: ordered ? 'prefix' : 'each',
    check(answer) {
      expectCodes(answer, bad === undefined ? [] : ['UNKNOWN_TABLE_COLUMNS'], command)
      const ids = (answer.body.status?.['insertedIds'] ?? []) as unknown[]
      const expected = written.map((given) => book.keyOf(given))
      if (ids.map(canonical).join() !== expected.join())
        throw new Unexplained('other ids', { command, answer: answer.text, expected })
    },
  })
}

async function updateOne(book: RowBook): Promise<void> {
  const [cells] = book.someKeys(1)
  const key = book.keyOf(cells!)
  const before = book.ledger.get(key)
  const { update, given } = randomUpdate(book, before)
  if (given.size === 0) return
  // If the owner is not part of the key, the update sets it, so that the client finds the row among
  // its own.
  if (book.shape.columns.has('owner') && !cells!.has('owner')) {
    update['$set'] = { ...update['$set'], owner: book.owner }
    given.set('owner', book.owner)
  }
  const command = { updateOne: { filter: book.exactly(cells!), update } }
  // If the update creates the row, the row also gets the columns of its key.
  const whole = new Map<string, Cell | null>([
    ...(Object.entries(book.exactly(cells!)) as [string, Cell][]),
    ...given,
  ])
  await book.change({
    command,
    touched: new Map([[key, book.written(before, whole, false)]]),
    check: (answer) =>
      expectText(answer, '{"status":{"matchedCount":1,"modifiedCount":1}}', command),
  })
}

/** An update of one to three columns, and the values of these columns after it. */
function randomUpdate(book: RowBook, before: RowState | undefined) {
  const { random } = book
  const update: Record<string, Record<string, unknown>> = {}
  const given = new Map<string, Cell | null>()
  const put = (operator: string, name: string, argument: unknown, cell: Cell | null) => {
    update[operator] = { ...update[operator], [name]: argument }
    given.set(name, cell)
  }
  for (const name of new Set(times(1 + random.below(3), () => random.pick(book.others)))) {
    const { is } = columnKinds[book.shape.columns.get(name)!]
    const old = before?.cells.get(name)
    const word = random.pick(words)
    const cell = book.newCell(name)
    if (random.oneIn(6)) put('$unset', name, '', null)
    else if (is === 'list' && random.oneIn(2)) {
      const list = (old ?? []) as number[]
      if (random.oneIn(2)) put('$push', name, 5, [...list, 5])
      else put('$pullAll', name, [1, 5], without(list, [1, 5]))
    } else if (is === 'set' && random.oneIn(2)) {
      const set = (old ?? []) as string[]
      if (random.oneIn(2))
        put('$push', name, { $each: [word, 'zebra'] }, sortedSet([...set, word, 'zebra']))
      else put('$pullAll', name, [word], without(set, [word]))
    } else if (is === 'map' && random.oneIn(2)) {
      const map = (old ?? {}) as Json
      if (random.oneIn(2)) put('$push', name, { [word]: 3 }, { ...map, [word]: 3 })
      else {
        const left = Object.entries(map).filter(([key]) => key !== word)
        put('$pullAll', name, [word], Object.fromEntries(left))
      }
    } else put('$set', name, cell, cell)
  }
  return { update, given }
}

async function deleteOne(book: RowBook): Promise<void> {
  const [cells] = book.someKeys(1)
  const command = { deleteOne: { filter: book.exactly(cells!) } }
  await book.change({
    command,
    touched: new Map([[book.keyOf(cells!), undefined]]),
    check: (answer) => expectText(answer, '{"status":{"deletedCount":-1}}', command),
  })
}

/**
 * Deletes a range of rows. A large range is deleted by several writes, so a rejected command may
 * have deleted some of the rows.
 */
async function deleteMany(book: RowBook): Promise<void> {
  const { filter, holds } = keyRange(book)
  const found = [...book.ledger.entries].filter(([, row]) => holds(row))
  const command = { deleteMany: { filter } }
  await book.change({
    command,
    touched: new Map(found.map(([key]) => [key, undefined])),
    refusedMayBe: 'each',
    check: (answer) => expectText(answer, '{"status":{"deletedCount":-1}}', command),
  })
}

/** A filter on the start of the key: a partition, a part of one, or a few keys. */
function keyRange(book: RowBook): { filter: Json; holds: (row: RowState) => boolean } {
  const { random, shape } = book
  const like = book.someRow().cells
  const sortColumns = Object.keys(shape.partitionSort)
  if (sortColumns.length === 0) {
    const keys = book.someKeys(book.ledger.size > rowsMax ? 60 : 4)
    const values = new Map(
      shape.partitionBy.map((name) => [name, keys.map((cells) => cells.get(name)!)]),
    )
    return {
      filter: Object.fromEntries([...values].map(([name, list]) => [name, { $in: list }])),
      holds: ({ cells }) =>
        [...values].every(([name, list]) => list.includes(cells.get(name)!)),
    }
  }
  const filter: Record<string, unknown> = {}
  const tests: ((row: RowState) => boolean)[] = []
  for (const name of shape.partitionBy) {
    filter[name] = like.get(name)
    tests.push(({ cells }) => cells.get(name) === like.get(name))
  }
  const [name] = sortColumns
  const bound = like.get(name!)!
  const compare = columnKinds[shape.columns.get(name!)!] as {
    readonly compare?: (a: Cell, b: Cell) => number
  }
  if (!random.oneIn(4)) {
    filter[name!] = random.oneIn(2) ? { $gte: bound } : bound
    const isRange = typeof filter[name!] === 'object'
    tests.push(({ cells }) => {
      const order = compare.compare!(cells.get(name!)!, bound)
      return isRange ? order >= 0 : order === 0
    })
  }
  return { filter, holds: (row) => tests.every((test) => test(row)) }
}

function without<T>(values: readonly T[], removed: readonly T[]): T[] {
  return values.filter((value) => !removed.includes(value))
}
