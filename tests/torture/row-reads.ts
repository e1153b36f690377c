/** Random reads of a client's own rows, compared with their expected states. */
import { bySimilarity, hasAnyTerm, hasTerms } from '../model/search-oracle.ts'
import { expectCodes } from './document-writes.ts'
import { times, words, type Json } from './random-documents.ts'
import { canonical, rowState, type RowBook, type RowState } from './row-book.ts'
import { columnKinds, vectorMetric, type Cell, type ColumnKind } from './table-shape.ts'
import { assertSame, Unexplained } from './unexplained.ts'

export function readRows(book: RowBook): Promise<void> {
  const { columns, indexes } = book.shape
  const hasIndexOn = (column: string) =>
    [...indexes.values()].some((index) => index.column === column)
  return book.random.pick([
    findKey,
    findKey,
    find,
    find,
    find,
    findSortedHere,
    ...(Object.keys(book.shape.partitionSort).length > 0 ? [findPartition] : []),
    ...(columns.has('v') && hasIndexOn('v') ? [findByVector, findByVector] : []),
    ...(columns.has('body') && hasIndexOn('body') ? [findByTerms] : []),
  ])(book)
}

async function findKey(book: RowBook): Promise<void> {
  const cells =
    book.ledger.size > 0 && !book.random.oneIn(4) ? book.someRow().cells : book.newKey()
  const command = { findOne: { filter: book.exactly(cells) } }
  const answer = await book.line.ask(book.path, command)
  expectCodes(answer, [], command)
  const { document } = answer.body.data!
  const found = document ? canonical(document) : 'null'
  const expected = book.ledger.get(book.keyOf(cells))?.text ?? 'null'
  if (found !== expected)
    throw new Unexplained(
      `${book.path}: another row`,
      { command, answer: answer.text, expected },
      found === 'null' ? 'lost' : 'unexplained',
    )
}

/** Checks a find with conditions on any columns and without a sort. */
async function find(book: RowBook): Promise<void> {
  const { random } = book
  const { filter, holds } = ownCondition(book)
  const expected = book.ledger.states.filter(holds)
  if (random.oneIn(5)) {
    const command = { findOne: { filter } }
    const { document } = (await book.line.ask(book.path, command)).body.data!
    const found = document ? canonical(document) : 'null'
    const texts = expected.map(({ text }) => text)
    if (!(expected.length === 0 ? ['null'] : texts).includes(found))
      throw new Unexplained(`${book.path}: another row`, {
        command,
        answer: found,
        expected: texts,
      })
    return
  }
  const projection = randomProjection(book)
  const clauses = { filter, projection: projection?.clause }
  const found = await book.readPages(clauses)
  assertSame(
    found.map(({ text }) => text).toSorted(),
    expected.map((row) => projection?.apply(row) ?? row.text).toSorted(),
    book.path,
    { find: clauses },
  )
}

/** Checks a find of a partition in its stored order, page by page. */
async function findPartition(book: RowBook): Promise<void> {
  if (book.ledger.size === 0) return
  const { partitionBy, partitionSort } = book.shape
  const like = book.someRow().cells
  const filter = Object.fromEntries(partitionBy.map((name) => [name, like.get(name)]))
  const sort = book.random.oneIn(2) ? partitionSort : undefined
  const limit = book.random.oneIn(3) ? 1 + book.random.below(40) : undefined
  const expected = book.ledger.states
    .filter(({ cells }) => partitionBy.every((name) => cells.get(name) === like.get(name)))
    .sort(byColumns(book, Object.entries(partitionSort)))
    .slice(0, limit)
  const found = await book.readPages({ filter, sort }, limit)
  assertSame(
    found.map(({ text }) => text),
    expected.map(({ text }) => text),
    book.path,
    { find: { filter, sort } },
  )
}

/** Checks a find whose rows the server sorts in memory, page by page. */
async function findSortedHere(book: RowBook): Promise<void> {
  const { random } = book
  const sortable = book.others.filter((name) => kindOf(book, name).compare !== undefined)
  if (sortable.length === 0) return
  const name = random.pick(sortable)
  const direction = random.pick([1, -1] as const)
  const { filter, holds } = ownCondition(book)
  const skip = random.oneIn(3) ? random.below(10) : undefined
  const limit = random.oneIn(2) ? 1 + random.below(50) : undefined
  const clauses = { filter, sort: { [name]: direction } }
  const command = { find: { ...clauses, options: { skip, limit } } }
  const found = await book.readPages(clauses, limit, skip)
  const rows = book.ledger.states.filter(holds).sort(byColumns(book, [[name, direction]]))
  const expected = rows.slice(skip ?? 0, (skip ?? 0) + (limit ?? Infinity))
  // Rows with equal values may come in any order.
  const values = (states: readonly RowState[]) =>
    states.map(({ cells }) => canonical(cells.get(name) ?? null))
  assertSame(values(found), values(expected), `${book.path}: order`, command)
  const texts = new Set(rows.map(({ text }) => text))
  for (const { text } of found)
    if (!texts.delete(text))
      throw new Unexplained(`${book.path}: twice, or no such row`, {
        command,
        answer: text,
      })
}

async function findByVector(book: RowBook): Promise<void> {
  const { random } = book
  const { filter, holds } = ownCondition(book)
  const query = columnKinds.vector.random(random)
  const limit = random.pick([1, 5, 1000])
  const options = { limit, includeSimilarity: true }
  const command = { find: { filter, sort: { v: query }, options } }
  const answer = await book.line.ask(book.path, command)
  expectCodes(answer, [], command)
  const rows = book.ledger.states.filter(holds)
  const searched = rows.map(({ cells, text }) => ({
    _id: text,
    $vector: (cells.get('v') ?? null) as readonly number[] | null,
  }))
  const nearest = bySimilarity(searched, vectorMetric, query)
  const found = answer.body.data!.documents!.map(({ $similarity, ...row }) => ({
    text: rowState(new Map(Object.entries(row)) as Map<string, Cell>).text,
    score: Math.fround($similarity as number),
  }))
  assertSame(
    found.map(({ score }) => String(score)),
    nearest.slice(0, limit).map(({ score }) => String(score)),
    `${book.path}: similarities`,
    command,
  )
  const scores = new Map(nearest.map(({ document, score }) => [document._id, score]))
  for (const { text, score } of found) {
    if (scores.get(text) !== score)
      throw new Unexplained(`${book.path}: twice, or no such row`, {
        command,
        answer: text,
      })
    scores.delete(text)
  }
}

async function findByTerms(book: RowBook): Promise<void> {
  const { random } = book
  const text = random.oneIn(2) ? random.pick(words) : `${random.pick(words)} bee`
  const { filter, holds } = ownCondition(book)
  const isSearch = random.oneIn(2)
  const clauses = isSearch
    ? { filter, sort: { body: text } }
    : { filter: { $and: [filter, { body: { $match: text } }] } }
  const command = { find: clauses }
  const found = await book.readPages(clauses)
  const expected = book.ledger.states.filter(
    (row) =>
      holds(row) &&
      (isSearch ? hasAnyTerm : hasTerms)(
        { _id: '', $lexical: (row.cells.get('body') ?? '') as string },
        text,
      ),
  )
  assertSame(
    found.map((row) => row.text).toSorted(),
    expected.map((row) => row.text).toSorted(),
    book.path,
    command,
  )
}

interface Condition {
  readonly filter: Json
  readonly holds: (row: RowState) => boolean
}

/** A condition on own rows, often with further restrictions. */
function ownCondition(book: RowBook): Condition {
  const own: Json = book.shape.columns.has('owner') ? { owner: book.owner } : {}
  const conditions = times(book.random.below(3), () => randomCondition(book))
  const filter =
    conditions.length === 0
      ? own
      : {
          $and: [
            ...(own['owner'] === undefined ? [] : [own]),
            ...conditions.map((one) => one.filter),
          ],
        }
  return { filter, holds: (row) => conditions.every(({ holds }) => holds(row)) }
}

function randomCondition(book: RowBook): Condition {
  const { random } = book
  const name = random.pick(book.others)
  const kind = kindOf(book, name)
  const operand = () => kind.random(random)
  switch (kind.is) {
    case 'scalar':
      return scalarCondition(book, name, kind)
    case 'list':
    case 'set': {
      const wanted = times(2, () =>
        kind.is === 'list' ? random.below(9) : random.pick(words),
      )
      const elements = ({ cells }: RowState) => (cells.get(name) ?? []) as unknown[]
      return random.pick<Condition>([
        {
          filter: { [name]: { $in: wanted } },
          holds: (row) => wanted.some((value) => elements(row).includes(value)),
        },
        {
          filter: { [name]: { $all: wanted } },
          holds: (row) => wanted.every((value) => elements(row).includes(value)),
        },
        {
          filter: { [name]: { $nin: wanted } },
          holds: (row) => !wanted.some((value) => elements(row).includes(value)),
        },
      ])
    }
    case 'map': {
      const wanted = random.pick(words)
      return {
        filter: { [name]: { $keys: { $in: [wanted] } } },
        holds: ({ cells }) => Object.hasOwn((cells.get(name) ?? {}) as Json, wanted),
      }
    }
    case 'opaque': {
      const value = operand()
      if (typeof value !== 'object' || !('$binary' in value))
        return { filter: {}, holds: () => true }
      return {
        filter: { [name]: value },
        holds: ({ cells }) => canonical(cells.get(name)) === canonical(value),
      }
    }
  }
}

/** A random condition on one column. Comparisons with null are never true. */
function scalarCondition(book: RowBook, name: string, kind: ColumnKind): Condition {
  const { random } = book
  const [one, other] = [kind.random(random), kind.random(random)]
  const holdsWith = (test: (cell: Cell) => boolean) => (row: RowState) => {
    const cell = row.cells.get(name)
    return cell !== undefined && test(cell)
  }
  const { compare } = kind
  return random.pick<Condition>([
    { filter: { [name]: one }, holds: holdsWith((cell) => cell === one) },
    {
      filter: { [name]: { $in: [one, other] } },
      holds: holdsWith((cell) => cell === one || cell === other),
    },
    { filter: { [name]: { $ne: one } }, holds: holdsWith((cell) => cell !== one) },
    ...(compare
      ? [
          {
            filter: { [name]: { $gt: one } },
            holds: holdsWith((cell) => compare(cell, one) > 0),
          },
          {
            filter: { [name]: { $gte: one, $lt: other } },
            holds: holdsWith((cell) => compare(cell, one) >= 0 && compare(cell, other) < 0),
          },
        ]
      : []),
  ])
}

function randomProjection(book: RowBook) {
  const { random } = book
  const names = times(3, () => random.pick([...book.shape.columns.keys()]))
  const isExclusion = random.oneIn(2)
  if (random.oneIn(3)) return undefined
  return {
    clause: Object.fromEntries(names.map((name) => [name, isExclusion ? 0 : 1])),
    apply: ({ cells }: RowState) =>
      rowState(new Map([...cells].filter(([name]) => names.includes(name) !== isExclusion)))
        .text,
  }
}

/** Comparison of rows by columns. Null sorts first, or last when the order is descending. */
function byColumns(book: RowBook, columns: readonly (readonly [string, 1 | -1])[]) {
  return (a: RowState, b: RowState): number => {
    for (const [name, direction] of columns) {
      const [left, right] = [a.cells.get(name), b.cells.get(name)]
      const order =
        left === undefined || right === undefined
          ? Number(left !== undefined) - Number(right !== undefined)
          : kindOf(book, name).compare!(left, right)
      if (order !== 0) return order * direction
    }
    return 0
  }
}

function kindOf(book: RowBook, name: string): ColumnKind {
  return columnKinds[book.shape.columns.get(name)!]
}
