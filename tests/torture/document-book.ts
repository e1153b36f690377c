/**
 * A client's own documents in a collection: their expected states, and how the client reads them.
 */
import { ApiError } from '../../src/errors/api-error.ts'
import { parseStored } from '../../src/json/parse.ts'
import { fromPlain } from '../../src/json/plain.ts'
import { printJson } from '../../src/json/print.ts'
import { isObject, type JsonObject, type Value } from '../../src/json/value.ts'
import { defaultLimits } from '../../src/limits.ts'
import type { Filter } from '../../src/language/filters/filter.ts'
import { matches } from '../../src/language/filters/matches.ts'
import { compareBy } from '../../src/language/values/order.ts'
import { parseFilter } from '../../src/language/filters/parse-filter.ts'
import { parseSort } from '../../src/language/sorts/parse-sort.ts'
import { parseUpdate } from '../../src/language/updates/parse-update.ts'
import { applyUpdate } from '../../src/language/updates/update.ts'
import { atOnce } from '../../src/runtime/steps.ts'
import { equalityDocument } from '../../src/language/updates/upsert.ts'
import { analyzerFor } from '../../src/search/lexical/analyzer.ts'
import { checkDocument } from '../collections/check-document.ts'
import { letterVector } from '../commands/letter-models.ts'
import type { Random } from '../faults/random.ts'
import { indexingOf, type CollectionShape } from './collection-shape.ts'
import { Ledger, type Doubt, type State, type Touched } from './ledger.ts'
import type { Answer, Line } from './line.ts'
import { randomFields, type Json } from './random-documents.ts'
import { Unexplained } from './unexplained.ts'

export interface DocumentState extends State {
  /** The document including its search fields, in the order of replies. */
  readonly document: JsonObject
}

/** A command that changes documents of a book, and the expected effect. */
export interface DocumentChange {
  readonly command: object
  readonly touched: Touched<DocumentState>
  /** Possible effects if the command gets no answer. */
  readonly mayBe?: Doubt['mayBe']
  /** Checks the answer. Returns the changed documents when the answer determines them. */
  readonly check: (answer: Answer) => Touched<DocumentState> | undefined
}

export class DocumentBook {
  readonly line: Line
  readonly random: Random
  readonly owner: number
  readonly shape: CollectionShape
  /** Whether the collection has no documents of other clients. */
  readonly isAlone: boolean
  readonly ledger = new Ledger<DocumentState>()
  #serial = 0

  constructor(
    line: Line,
    random: Random,
    owner: number,
    shape: CollectionShape,
    isAlone = false,
  ) {
    this.line = line
    this.random = random
    this.owner = owner
    this.shape = shape
    this.isAlone = isAlone
  }

  get path(): string {
    return `/${this.shape.keyspace}/${this.shape.name}`
  }

  /** The ids of the known documents. */
  get ids(): readonly Value[] {
    return this.ledger.states.map(({ document }) => document.get('_id')!)
  }

  /** Fields of a new document without an _id, which the server generates. */
  newFields(): JsonObject {
    const { owner } = this
    const fields = {
      owner,
      serial: this.#serial++,
      ...randomFields(this.random, this.shape),
    }
    return fromPlain(fields) as JsonObject
  }

  newDocument(): JsonObject {
    const fields = this.newFields()
    const serial = fields.get('serial') as number
    const id = this.random.oneIn(3)
      ? this.owner * 1_000_000 + serial
      : `${this.owner}-${serial}`
    return new Map<string, Value>([['_id', id], ...fields])
  }

  /**
   * Limits a filter to documents of this client. In a collection without documents of other
   * clients, it does so in half of the calls.
   */
  own(filter: Json): Json {
    return this.isAlone && this.random.oneIn(2) ? filter : { owner: this.owner, ...filter }
  }

  matching(filter: Json, sort?: Json): DocumentState[] {
    const parsed = this.parsed(filter)
    const found = this.ledger.states.filter(({ document }) =>
      this.matches(parsed, document),
    )
    if (sort === undefined) return found
    const context = { target: '', limits: defaultLimits, vectorize: false }
    const read = parseSort(fromPlain(sort), {
      ...context,
      vector: undefined,
      analyze: undefined,
      lexicalOperator: 'any',
    })
    const compare = compareBy(read.kind === 'values' ? read.keys : [])
    return found.sort((a, b) => compare(a.document, b.document))
  }

  parsed(filter: Json): Filter {
    return parseFilter(fromPlain(filter), {
      limits: defaultLimits,
      indexing: indexingOf(this.shape),
      target: '',
      analyze: this.shape.lexical ? termsOf : undefined,
    })
  }

  matches(filter: Filter, document: JsonObject): boolean {
    const text = document.get('$lexical')
    return matches(filter, document, (terms) => {
      const own = new Set(typeof text === 'string' ? termsOf(text) : [])
      return terms.every((term) => own.has(term))
    })
  }

  /** The result of an update of a document, or its error. */
  updated(update: Json, { document }: DocumentState): Updated | ApiError {
    return this.#outcome(update, document, false)
  }

  /** The document that an upsert inserts, or its error. */
  upserted(update: Json, filter: Json): Updated | ApiError {
    return this.#outcome(update, equalityDocument(this.parsed(filter)), true)
  }

  #outcome(update: Json, from: JsonObject, inserting: boolean): Updated | ApiError {
    try {
      const plan = parseUpdate(fromPlain(update))
      const context = { inserting, nowMs: 0, limits: defaultLimits }
      const { document, changed } = atOnce(applyUpdate(plan, from, context))
      const fields = new Map([...document].filter(([name]) => !searchFields.includes(name)))
      if (changed) checkDocument(fields, indexingOf(this.shape), defaultLimits)
      return { state: stateOf(document, '$currentDate' in update), changed }
    } catch (error) {
      if (error instanceof ApiError) return error
      throw error
    }
  }

  /** Sends a change, checks the answer and records the outcome. */
  async change({ command, touched, mayBe = 'each', check }: DocumentChange): Promise<void> {
    const told = await this.line.send(this.path, command)
    switch (told.kind) {
      case 'answered':
        this.ledger.apply(check(told.answer) ?? touched)
        return
      case 'refused':
        return this.settle(touched, { mayBe: 'untouched', command })
      case 'lost':
        return this.settle(touched, { mayBe, command })
    }
  }

  async settle(touched: Touched<DocumentState>, doubt: Doubt): Promise<void> {
    const found = new Map<string, DocumentState>()
    const ids = [...touched.keys()].map((key) => JSON.parse(key) as unknown)
    for (let at = 0; at < ids.length; at += inValuesMax) {
      const filter = { _id: { $in: ids.slice(at, at + inValuesMax) } }
      for (const state of await this.readAll(filter)) found.set(keyOf(state), state)
    }
    this.ledger.settle(touched, found, doubt)
  }

  /** Reads all pages of matching documents, with all fields. */
  async readAll(filter: object): Promise<DocumentState[]> {
    const found: DocumentState[] = []
    let pageState: Value | undefined
    do {
      const find: object = { filter, projection: { '*': 1 }, options: { pageState } }
      const answer = await this.line.ask(this.path, { find })
      found.push(...documentsIn(answer, { find }).map((document) => stateOf(document)))
      pageState = memberOf(exactOf(answer), 'data', 'nextPageState')
    } while (typeof pageState === 'string')
    return found
  }
}

export interface Updated {
  readonly state: DocumentState
  readonly changed: boolean
}

const inValuesMax = defaultLimits.inValuesMax

/** Search fields in the order of replies, after all other fields. */
export const searchFields: readonly string[] = ['$vector', '$vectorize', '$lexical']

export function stateOf(whole: JsonObject, isStamped = false): DocumentState {
  const document = new Map(whole)
  const text = document.get('$vectorize')
  if (typeof text === 'string') document.set('$vector', letterVector(text))
  for (const name of searchFields) {
    const value = document.get(name)
    document.delete(name)
    if (value !== undefined) document.set(name, value)
  }
  return { document, text: printJson(document), isStamped }
}

/** The key of a document in a ledger: its _id as JSON. */
export function keyOf({ document }: Pick<DocumentState, 'document'>): string {
  return printJson(document.get('_id')!)
}

export function touching(...states: readonly DocumentState[]): Map<string, DocumentState> {
  return new Map(states.map((state) => [keyOf(state), state]))
}

export function removing(states: readonly DocumentState[]): Map<string, undefined> {
  return new Map(states.map((state) => [keyOf(state), undefined]))
}

export function termsOf(text: string): string[] {
  return [...analyzerFor('standard').terms(text)]
}

/** The parsed body of an answer; its numbers keep all digits. */
export function exactOf(answer: Answer): Value {
  return parseStored(answer.text)
}

export function memberOf(
  value: Value | undefined,
  ...names: readonly string[]
): Value | undefined {
  let found = value
  for (const name of names) found = isObject(found) ? found.get(name) : undefined
  return found
}

/** The documents in an answer; throws when the answer is not a page of documents. */
export function documentsIn(answer: Answer, command: object): JsonObject[] {
  const documents = memberOf(exactOf(answer), 'data', 'documents')
  if (!Array.isArray(documents) || answer.codes.length > 0)
    throw new Unexplained('a find without documents', { command, answer: answer.text })
  return documents as JsonObject[]
}
