/** Random reads of a client's own documents, compared with their expected states. */
import { lexicalOperators, type LexicalOperator } from '../../src/language/sorts/sort.ts'
import { fromPlain, toPlain } from '../../src/json/plain.ts'
import { printJson } from '../../src/json/print.ts'
import { isObject, type JsonObject, type Value } from '../../src/json/value.ts'
import { parseProjection } from '../../src/language/projection.ts'
import { atOnce } from '../../src/runtime/steps.ts'
import { letterVector } from '../commands/letter-models.ts'
import { bySimilarity, type Scored, type WireVector } from '../model/search-oracle.ts'
import {
  documentsIn,
  exactOf,
  keyOf,
  memberOf,
  searchFields,
  stateOf,
  type DocumentBook,
  type DocumentState,
} from './document-book.ts'
import { expectCodes, expectText } from './document-writes.ts'
import {
  randomFilter,
  randomProjection,
  randomSort,
  randomVector,
  words,
  type Json,
} from './random-documents.ts'
import { assertSame, Unexplained } from './unexplained.ts'

export function readDocuments(book: DocumentBook): Promise<void> {
  const { vector, lexical } = book.shape
  return book.random.pick([
    find,
    find,
    findSorted,
    findSorted,
    findOne,
    countDocuments,
    estimatedDocumentCount,
    ...(vector ? [findByVector, findByVector, findByVector] : []),
    ...(lexical ? [findByTerms, findByTerms] : []),
    ...(vector && lexical ? [findAndRerank] : []),
  ])(book)
}

/**
 * Checks a find without a sort, whose documents may come in any order. `limit` applies to all pages
 * together.
 */
async function find(book: DocumentBook): Promise<void> {
  const { random } = book
  const filter = anyFilter(book)
  const projection = randomProjection(random)
  const limit = random.oneIn(4) ? 1 + random.below(50) : undefined
  const clauses = { filter, projection }
  const found = await allPages(book, clauses, { limit })
  const expected = projected(book.matching(filter), projection)
  if (limit === undefined || limit >= expected.length) {
    assertSame(found.toSorted(), expected.toSorted(), book.path, { find: clauses })
    return
  }
  const surplus = new Set(found).difference(new Set(expected))
  if (found.length !== limit || surplus.size > 0)
    throw new Unexplained(`${book.path}: not ${limit} of those that match`, {
      command: { find: clauses },
      answer: found,
    })
}

async function findSorted(book: DocumentBook): Promise<void> {
  const { random } = book
  const filter = anyFilter(book)
  const projection = randomProjection(random)
  const sort = randomSort(random)
  const skip = random.oneIn(3) ? random.below(30) : 0
  const limit = random.oneIn(3) ? 1 + random.below(50) : undefined
  const clauses = { filter, sort, projection }
  const found = await allPages(book, clauses, { skip, limit })
  const end = limit === undefined ? undefined : skip + limit
  const expected = projected(book.matching(filter, sort).slice(skip, end), projection)
  assertSame(found, expected, book.path, { find: clauses })
}

async function findOne(book: DocumentBook): Promise<void> {
  const { random } = book
  const isById = book.ledger.size > 0 && random.oneIn(2)
  const filter = isById ? { _id: toPlain(random.pick(book.ids)) } : anyFilter(book)
  const sort = isById ? undefined : randomSort(random)
  const projection = randomProjection(random)
  const command = { findOne: { filter, sort, projection } }
  const answer = await book.line.ask(book.path, command)
  expectCodes(answer, [], command)
  const [first] = projected(book.matching(filter, sort).slice(0, 1), projection)
  const document = memberOf(exactOf(answer), 'data', 'document')
  const found = isObject(document) ? normalized(document) : 'null'
  if (found !== (first ?? 'null'))
    throw new Unexplained(
      `${book.path}: another document`,
      { command, answer: answer.text, expected: first ?? null },
      isById && found === 'null' ? 'lost' : 'unexplained',
    )
}

async function countDocuments(book: DocumentBook): Promise<void> {
  const filter = anyFilter(book)
  const command = { countDocuments: { filter } }
  const answer = await book.line.ask(book.path, command)
  const count = book.matching(filter).length
  expectText(answer, `{"status":{"count":${count}}}`, command)
}

/** Checks an estimated count, which includes documents of other clients. */
async function estimatedDocumentCount(book: DocumentBook): Promise<void> {
  const command = { estimatedDocumentCount: {} }
  const answer = await book.line.ask(book.path, command)
  const count = answer.body.status?.['count']
  const own = book.ledger.size
  if (typeof count !== 'number' || count < own || (book.isAlone && count !== own))
    throw new Unexplained(`${book.path}: another count`, {
      command,
      answer: answer.text,
      expected: own,
    })
}

interface Searched {
  readonly _id: string
  readonly $vector?: WireVector | null
}

async function findByVector(book: DocumentBook): Promise<void> {
  const { random, shape } = book
  const filter = anyFilter(book)
  const text =
    shape.vectorize && random.oneIn(2) ? random.pick(['ab', 'bb', 'aaab']) : undefined
  const query = text === undefined ? randomVector(random, shape) : letterVector(text)
  const sort = text === undefined ? { $vector: query } : { $vectorize: text }
  const limit = random.pick([1, 3, 10, 1000])
  const options = { limit, includeSimilarity: true, includeSortVector: true }
  const command = { find: { filter, sort, projection: { '*': 1 }, options } }
  const answer = await book.line.ask(book.path, command)
  const states = new Map(book.matching(filter).map((state) => [keyOf(state), state]))
  const documents = [...states.values()].map((state): Searched => ({
    _id: keyOf(state),
    $vector: toPlain(state.document.get('$vector') ?? null) as WireVector | null,
  }))
  const nearest = bySimilarity(documents, shape.vector!.metric, query)
  const found = documentsIn(answer, command).map((document) => {
    const whole = new Map(document)
    const score = Math.fround(whole.get('$similarity') as number)
    whole.delete('$similarity')
    return { state: stateOf(whole), score }
  })
  const scores = found.map(({ score }) => String(score))
  const best = nearest.slice(0, limit).map(({ score }) => String(score))
  assertSame(scores, best, `${book.path}: similarities`, command)
  checkFound(book, found, nearest, states, command)
  const sortVector = answer.body.status?.['sortVector']
  if (JSON.stringify(sortVector) !== JSON.stringify(query))
    throw new Unexplained('another sortVector', { command, answer: sortVector })
}

/** Checks that each expected document is found once, with its expected state and similarity. */
function checkFound(
  book: DocumentBook,
  found: readonly { readonly state: DocumentState; readonly score: number }[],
  nearest: readonly Scored<Searched>[],
  states: ReadonlyMap<string, DocumentState>,
  command: object,
): void {
  const scores = new Map(nearest.map(({ document, score }) => [document._id, score]))
  for (const { state, score } of found) {
    const key = keyOf(state)
    const isRight = scores.get(key) === score && states.get(key)?.text === state.text
    if (!isRight)
      throw new Unexplained(`${book.path}: ${key} found twice, or something else`, {
        command,
        answer: state.text,
        expected: states.get(key)?.text ?? 'not found',
      })
    scores.delete(key)
  }
}

/**
 * Checks a search by terms. Scores depend on other clients' documents, so only the set of found
 * documents is compared.
 */
async function findByTerms(book: DocumentBook): Promise<void> {
  const { random } = book
  const text = random.oneIn(3)
    ? `${random.pick(words)} ${random.pick(words)}`
    : random.pick(words)
  const filter = anyFilter(book)
  const isSearch = random.oneIn(2)
  const lexicalOperator = random.pick(lexicalOperators)
  const having = (terms: string) => ({ ...filter, $lexical: { $match: terms } })
  const clauses = isSearch
    ? { filter, sort: { $lexical: text }, projection: { '*': 1 } }
    : { filter: having(text), projection: { '*': 1 } }
  const found = await allPages(book, clauses, isSearch ? { lexicalOperator } : {})
  const parts = isSearch && lexicalOperator === 'any' ? text.split(' ') : [text]
  const matching = new Set(parts.flatMap((part) => book.matching(having(part))))
  const expected = [...matching].map((state) => state.text)
  assertSame(found.toSorted(), expected.toSorted(), book.path, { find: clauses })
}

/**
 * Checks findAndRerank. Candidates are all documents with a vector and a text. The reranker counts
 * words.
 */
async function findAndRerank(book: DocumentBook): Promise<void> {
  const { random, shape } = book
  const filter = anyFilter(book)
  const query = random.pick(words)
  const limit = random.pick([3, 10, 100])
  const $hybrid = { $vector: randomVector(random, shape), $lexical: query }
  const options = {
    limit,
    hybridLimits: 100,
    rerankOn: '$lexical',
    rerankQuery: query,
    includeScores: true,
  }
  const command = { findAndRerank: { filter, sort: { $hybrid }, options } }
  const answer = await book.line.ask(book.path, command)
  const scores = new Map(
    book
      .matching(filter)
      .filter(({ document }) => document.get('$vector') && document.get('$lexical'))
      .map((state) => [
        keyOf(state),
        (state.document.get('$lexical') as string).split(query).length - 2,
      ]),
  )
  const best = [...scores.values()].toSorted((a, b) => b - a).slice(0, limit)
  const keys = documentsIn(answer, command).map((document) => keyOf({ document }))
  const responses = memberOf(exactOf(answer), 'status', 'documentResponses') as Value[]
  const told = responses.map((response) =>
    printJson(memberOf(response, 'scores', '$rerank') ?? null),
  )
  assertSame(told, best.map(String), `${book.path}: scores`, command)
  for (const [i, key] of keys.entries()) {
    if (String(scores.get(key)) !== told[i])
      throw new Unexplained(`${book.path}: ${key} has another score`, {
        command,
        answer: answer.text,
        expected: scores.get(key) ?? 'not found',
      })
    scores.delete(key)
  }
}

function anyFilter(book: DocumentBook): Json {
  return book.own(randomFilter(book.random, book.ids.map(toPlain)))
}

interface PageOptions {
  readonly skip?: number | undefined
  readonly limit?: number | undefined
  readonly lexicalOperator?: LexicalOperator
}

async function allPages(
  book: DocumentBook,
  clauses: object,
  { skip, limit, lexicalOperator }: PageOptions,
): Promise<string[]> {
  const found: string[] = []
  let pageState: Value | undefined
  do {
    const from = skip === 0 ? undefined : skip
    const options = { skip: from, limit, pageState, lexicalOperator }
    const command = { find: { ...clauses, options } }
    const answer = await book.line.ask(book.path, command)
    found.push(...documentsIn(answer, command).map(normalized))
    pageState = memberOf(exactOf(answer), 'data', 'nextPageState')
  } while (typeof pageState === 'string')
  return found
}

function projected(
  states: readonly DocumentState[],
  projection: Json | undefined,
): string[] {
  const shown = parseProjection(
    projection === undefined ? undefined : fromPlain(projection),
  )
  return states.map(({ document }) => {
    const whole = new Map(document)
    if (!shown.vector) whole.delete('$vector')
    if (!shown.vectorize) whole.delete('$vectorize')
    if (!shown.lexical) whole.delete('$lexical')
    const made = shown.apply(whole)
    return normalized(made instanceof Map ? made : atOnce(made))
  })
}

/** JSON text of a document, with its search fields at the end. */
function normalized(document: JsonObject): string {
  const fields = [...document].filter(([name]) => !searchFields.includes(name))
  const search = searchFields.flatMap((name) => {
    const value = document.get(name)
    return value === undefined ? [] : [[name, value] as const]
  })
  return printJson(new Map<string, Value>([...fields, ...search]))
}
