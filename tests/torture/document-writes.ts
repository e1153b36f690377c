/** Random changes of a client's own documents, by every command that changes documents. */
import { ApiError } from '../../src/errors/api-error.ts'
import { fromPlain, toPlain } from '../../src/json/plain.ts'
import { printJson } from '../../src/json/print.ts'
import { isObject, type JsonObject, type Value } from '../../src/json/value.ts'
import {
  exactOf,
  keyOf,
  memberOf,
  removing,
  stateOf,
  touching,
  type DocumentBook,
  type DocumentState,
  type Updated,
} from './document-book.ts'
import type { Touched } from './ledger.ts'
import type { Answer } from './line.ts'
import {
  randomFilter,
  randomSort,
  randomUpdate,
  times,
  type Json,
} from './random-documents.ts'
import { Unexplained } from './unexplained.ts'

/** The number of documents that one findAndRerank considers. */
const documentsMax = 90

export function writeDocuments(book: DocumentBook): Promise<void> {
  const { random, ledger } = book
  if (ledger.size < 10) return random.pick([insertOne, insertMany])(book)
  if (ledger.size > documentsMax) return deleteMany(book)
  return random.pick([
    insertOne,
    insertUnnamed,
    insertMany,
    insertMany,
    updateOne,
    updateOne,
    updateOne,
    upsertOne,
    updateMany,
    stampOne,
    replaceOne,
    replaceOne,
    deleteOne,
    deleteMany,
    ...(book.isAlone ? [deleteAll] : []),
  ])(book)
}

/** Inserts one document, sometimes with an _id that exists. */
async function insertOne(book: DocumentBook): Promise<void> {
  const { random, ledger } = book
  const state = stateOf(book.newDocument())
  const taken = ledger.size > 0 && random.oneIn(6) ? random.pick(ledger.states) : undefined
  const document = sentForm(taken === undefined ? state : withIdOf(state, taken))
  const command = { insertOne: { document } }
  await book.change({
    command,
    touched: taken === undefined ? touching(state) : touching(taken),
    check(answer) {
      if (taken === undefined) expectText(answer, insertedText([state]), command)
      else expectCodes(answer, ['DOCUMENT_ALREADY_EXISTS'], command)
      return undefined
    },
  })
}

/**
 * Inserts a document without an _id. The server generates the _id, so the document is found by its
 * serial number.
 */
async function insertUnnamed(book: DocumentBook): Promise<void> {
  const fields = book.newFields()
  const command = { insertOne: { document: toPlain(fields) } }
  const told = await book.line.send(book.path, command)
  const named = (id: Value) => stateOf(new Map<string, Value>([['_id', id], ...fields]))
  if (told.kind === 'answered') {
    const ids = memberOf(exactOf(told.answer), 'status', 'insertedIds')
    if (!Array.isArray(ids) || ids.length !== 1)
      throw new Unexplained('no _id', { command, answer: told.answer.text })
    checkMadeId(book, ids[0]!, command)
    book.ledger.apply(touching(named(ids[0]!)))
    return
  }
  const { owner } = book
  const found = await book.readAll({ owner, serial: toPlain(fields.get('serial')!) })
  const [first] = found
  if (first === undefined) return
  const expected = named(first.document.get('_id')!)
  checkMadeId(book, first.document.get('_id')!, command)
  if (found.length > 1 || told.kind === 'refused' || first.text !== expected.text)
    throw new Unexplained('not what was inserted', {
      command,
      answer: found.map(({ text }) => text),
      expected: told.kind === 'refused' ? 'nothing' : expected.text,
    })
  book.ledger.apply(touching(expected))
}

function checkMadeId(book: DocumentBook, id: Value, command: object): void {
  const { defaultId } = book.shape
  const uuid = isObject(id) ? id.get('$uuid') : id
  const version = { uuid: '4', uuidv6: '6', uuidv7: '7' }
  const isRight =
    defaultId === 'objectId'
      ? isObject(id) && /^"[0-9a-f]{24}"$/.test(printJson(id.get('$objectId') ?? null))
      : isObject(id) === (defaultId !== undefined) &&
        typeof uuid === 'string' &&
        uuid[14] === version[defaultId ?? 'uuid']
  if (!isRight || book.ledger.get(printJson(id)) !== undefined)
    throw new Unexplained(`an _id that is taken, or no ${defaultId ?? 'UUID'}`, {
      command,
      answer: printJson(id),
    })
}

async function insertMany(book: DocumentBook): Promise<void> {
  const { random, ledger } = book
  const states = times(1 + random.below(20), () => stateOf(book.newDocument()))
  const taken = ledger.size > 0 && random.oneIn(4) ? random.pick(ledger.states) : undefined
  const place = random.below(states.length)
  if (taken !== undefined) states[place] = withIdOf(states[place]!, taken)
  const ordered = random.oneIn(2)
  const returnDocumentResponses = random.oneIn(3)
  const isInserted = (position: number) =>
    taken === undefined || (ordered ? position < place : position !== place)
  const inserted = states.filter((_, position) => isInserted(position))
  const options = { ordered, returnDocumentResponses }
  const command = { insertMany: { documents: states.map(sentForm), options } }
  await book.change({
    command,
    touched: touching(...inserted),
    mayBe: ordered ? 'prefix' : 'each',
    check(answer) {
      expectCodes(answer, taken === undefined ? [] : ['DOCUMENT_ALREADY_EXISTS'], command)
      const status = memberOf(exactOf(answer), 'status')
      const told = returnDocumentResponses
        ? (memberOf(status, 'documentResponses') as JsonObject[])
            .filter((response) => response.get('status') === 'OK')
            .map((response) => response.get('_id')!)
        : (memberOf(status, 'insertedIds') as Value[])
      const expected = inserted.map(keyOf)
      if (told.map(printJson).join() !== expected.join())
        throw new Unexplained('other ids', { command, answer: answer.text, expected })
      return undefined
    },
  })
}

/** Changes a document chosen by _id, or the first match, with updateOne or findOneAndUpdate. */
async function updateOne(book: DocumentBook): Promise<void> {
  const { random } = book
  const { filter, sort } = oneDocument(book)
  const update = randomUpdate(random, book.shape, { isBold: true })
  const [found] = book.matching(filter, sort)
  const outcome = found && book.updated(update, found)
  const clauses = { filter, sort, update }
  const after = returnAfter(book)
  const command = random.oneIn(2)
    ? { updateOne: clauses }
    : { findOneAndUpdate: { ...clauses, ...after.clauses } }
  await book.change({
    command,
    touched:
      outcome === undefined || outcome instanceof ApiError
        ? untouched(found)
        : touching(outcome.state),
    check(answer) {
      if (outcome instanceof ApiError) {
        expectCodes(answer, [outcome.code], command)
        return undefined
      }
      const counts = {
        matchedCount: found === undefined ? 0 : 1,
        modifiedCount: outcome?.changed ? 1 : 0,
      }
      expectStatus(answer, counts, command)
      if ('findOneAndUpdate' in command)
        expectDocument(answer, after.isAfter ? outcome?.state : found, command)
      return undefined
    },
  })
}

async function upsertOne(book: DocumentBook): Promise<void> {
  const { random } = book
  const isNew = random.oneIn(2)
  const id = toPlain(isNew ? book.newDocument().get('_id')! : random.pick(book.ids))
  const filter = { _id: id, owner: book.owner }
  const update = {
    ...randomUpdate(random, book.shape, { isBold: false }),
    $setOnInsert: { made: true },
  }
  const [found] = book.matching(filter)
  const outcome = found ? book.updated(update, found) : book.upserted(update, filter)
  // Skips updates that fail, because `updateOne` covers their errors.
  if (outcome instanceof ApiError) return
  const options = { upsert: true }
  const name = random.pick(['updateOne', 'updateMany', 'findOneAndUpdate'])
  const command = { [name]: { filter, update, options } }
  await book.change({
    command,
    touched: touching(outcome.state),
    check(answer) {
      const status: Record<string, unknown> =
        found === undefined
          ? { matchedCount: 0, modifiedCount: 0, upsertedId: id }
          : { matchedCount: 1, modifiedCount: outcome.changed ? 1 : 0 }
      expectStatus(answer, status, command)
      return undefined
    },
  })
}

/** Changes all matches, page by page. Each document is changed atomically. */
async function updateMany(book: DocumentBook): Promise<void> {
  const { random } = book
  const filter = book.own(randomFilter(random, book.ids.map(toPlain)))
  const update = randomUpdate(random, book.shape, { isBold: false })
  const found = book.matching(filter)
  const outcomes = found.map((state) => book.updated(update, state))
  const done = outcomes.filter(
    (outcome): outcome is Updated => !(outcome instanceof ApiError),
  )
  if (done.length < outcomes.length) return
  const counted = { matched: 0, modified: 0 }
  const touched = touching(...done.map(({ state }) => state))
  let pageState: unknown
  for (;;) {
    const command = { updateMany: { filter, update, options: { pageState } } }
    const told = await book.line.send(book.path, command)
    if (told.kind !== 'answered') return book.settle(touched, { mayBe: 'each', command })
    expectCodes(told.answer, [], command)
    const { status } = told.answer.body
    counted.matched += status!['matchedCount'] as number
    counted.modified += status!['modifiedCount'] as number
    pageState = status!['nextPageState']
    if (pageState !== undefined) continue
    const modified = done.filter(({ changed }) => changed).length
    if (counted.matched !== found.length || counted.modified !== modified)
      throw new Unexplained('other counts', {
        command,
        answer: counted,
        expected: { matched: found.length, modified },
      })
    book.ledger.apply(touched)
    return
  }
}

/** Milliseconds of a time that is longer than any offset of the moved clock. */
const clockOffMaxMs = 7 * 86_400_000

/** Sets a time with $currentDate. The test does not know the exact time of the server's clock. */
async function stampOne(book: DocumentBook): Promise<void> {
  const filter = { _id: toPlain(book.random.pick(book.ids)) }
  const update = { $currentDate: { stamp: true }, $inc: { n: 1 } }
  const [found] = book.matching(filter)
  const outcome = book.updated(update, found!)
  if (outcome instanceof ApiError) return
  const options = { returnDocument: 'after' }
  const command = {
    findOneAndUpdate: { filter, update, projection: { '*': 1 }, options },
  }
  await book.change({
    command,
    touched: touching(outcome.state),
    check(answer) {
      const document = memberOf(exactOf(answer), 'data', 'document')
      const stamp = memberOf(document, 'stamp', '$date')
      if (typeof stamp !== 'number' || Math.abs(stamp - Date.now()) > clockOffMaxMs)
        throw new Unexplained('no date', { command, answer: answer.text })
      const stamped = new Map(outcome.state.document)
      stamped.set('stamp', fromPlain({ $date: stamp }))
      const state = stateOf(stamped)
      expectDocument(answer, state, command)
      return touching(state)
    },
  })
}

async function replaceOne(book: DocumentBook): Promise<void> {
  const { random } = book
  const isUpsert = random.oneIn(4)
  const { filter, sort } = isUpsert
    ? { filter: { _id: toPlain(book.newDocument().get('_id')!) }, sort: undefined }
    : oneDocument(book)
  const [found] = book.matching(filter, sort)
  const replacement = book.newFields()
  const id = found?.document.get('_id') ?? fromPlain(filter['_id'] ?? 'none')
  const state = stateOf(new Map<string, Value>([['_id', id], ...replacement]))
  const after = returnAfter(book)
  const { projection, options } = after.clauses
  const command = {
    findOneAndReplace: {
      filter,
      sort,
      replacement: toPlain(replacement),
      projection,
      options: { ...options, upsert: isUpsert },
    },
  }
  await book.change({
    command,
    touched: found === undefined && !isUpsert ? new Map() : touching(state),
    check(answer) {
      expectCodes(answer, [], command)
      const shown = after.isAfter && (found ?? isUpsert) ? state : found
      expectDocument(answer, shown, command)
      return undefined
    },
  })
}

async function deleteOne(book: DocumentBook): Promise<void> {
  const { filter, sort } = oneDocument(book)
  const [found] = book.matching(filter, sort)
  const isFind = book.random.oneIn(2)
  const command = isFind
    ? { findOneAndDelete: { filter, sort, projection: { '*': 1 } } }
    : { deleteOne: { filter, sort } }
  await book.change({
    command,
    touched: removing(found === undefined ? [] : [found]),
    check(answer) {
      if (isFind) expectDocument(answer, found, command)
      else expectStatus(answer, { deletedCount: found === undefined ? 0 : 1 }, command)
      return undefined
    },
  })
}

async function deleteMany(book: DocumentBook): Promise<void> {
  const { random } = book
  const few = { _id: { $in: times(5, () => toPlain(random.pick(book.ids))) } }
  const filter: Json =
    book.ledger.size > documentsMax
      ? { owner: book.owner, n: { $gte: 6 } }
      : book.own(random.oneIn(2) ? few : { n: random.below(20), kind: 'poem' })
  const found = book.matching(filter)
  let deleted = 0
  for (;;) {
    const command = { deleteMany: { filter } }
    const told = await book.line.send(book.path, command)
    if (told.kind !== 'answered')
      return book.settle(removing(found), { mayBe: 'each', command })
    expectCodes(told.answer, [], command)
    const { status } = told.answer.body
    deleted += status!['deletedCount'] as number
    if (status!['moreData'] === true) continue
    if (deleted !== found.length)
      throw new Unexplained('another count', {
        command,
        answer: deleted,
        expected: found.length,
      })
    book.ledger.apply(removing(found))
    return
  }
}

async function deleteAll(book: DocumentBook): Promise<void> {
  if (!book.random.oneIn(5)) return
  const command = { deleteMany: { filter: {} } }
  await book.change({
    command,
    touched: removing(book.ledger.states),
    check(answer) {
      expectStatus(answer, { deletedCount: -1 }, command)
      return undefined
    },
  })
}

/** Clauses that choose exactly one known document. */
function oneDocument(book: DocumentBook): { filter: Json; sort: Json | undefined } {
  const { random } = book
  if (random.oneIn(2))
    return { filter: { _id: toPlain(random.pick(book.ids)) }, sort: undefined }
  const filter = book.own(randomFilter(random, book.ids.map(toPlain)))
  return { filter, sort: randomSort(random) }
}

function returnAfter(book: DocumentBook) {
  const isAfter = book.random.oneIn(2)
  const options = { returnDocument: isAfter ? 'after' : 'before' }
  return { isAfter, clauses: { projection: { '*': 1 }, options } }
}

/**
 * A document as clients send it. It omits the vector if the server computes the vector from the
 * text.
 */
function sentForm({ document }: DocumentState): Json {
  const sent = new Map(document)
  if (sent.has('$vectorize')) sent.delete('$vector')
  return toPlain(sent) as Json
}

function withIdOf(state: DocumentState, other: DocumentState): DocumentState {
  return stateOf(new Map(state.document).set('_id', other.document.get('_id')!))
}

function untouched(state: DocumentState | undefined): Touched<DocumentState> {
  return state === undefined ? new Map() : touching(state)
}

function insertedText(states: readonly DocumentState[]): string {
  return `{"status":{"insertedIds":[${states.map(keyOf).join(',')}]}}`
}

export function expectText(answer: Answer, expected: string, command: object): void {
  if (answer.text !== expected)
    throw new Unexplained('another answer', { command, answer: answer.text, expected })
}

export function expectCodes(
  answer: Answer,
  expected: readonly string[],
  command: object,
): void {
  if (answer.codes.join() !== expected.join())
    throw new Unexplained('other errors', { command, answer: answer.text, expected })
}

function expectStatus(
  answer: Answer,
  expected: Readonly<Record<string, unknown>>,
  command: object,
): void {
  expectCodes(answer, [], command)
  const status = memberOf(exactOf(answer), 'status')
  if (status === undefined || printJson(status) !== printJson(fromPlain(expected)))
    throw new Unexplained('another status', { command, answer: answer.text, expected })
}

function expectDocument(
  answer: Answer,
  expected: DocumentState | undefined,
  command: object,
): void {
  expectCodes(answer, [], command)
  const document = memberOf(exactOf(answer), 'data', 'document')
  const found = isObject(document) ? stateOf(document).text : 'null'
  if (found !== (expected?.text ?? 'null'))
    throw new Unexplained('another document', {
      command,
      answer: answer.text,
      expected: expected?.text ?? null,
    })
}
