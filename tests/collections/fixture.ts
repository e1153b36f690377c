/**
 * Documents on an engine that serves nothing, for tests of the layer between commands and
 * engines.
 */
import type { LexicalOperator } from '../../src/language/sorts/sort.ts'
import { ownCaller } from '../../src/caller/caller.ts'
import assert from 'node:assert/strict'
import {
  replaceDocument,
  updateDocument,
  updateDocuments,
} from '../../src/collections/change-documents.ts'
import {
  documentStoreOf,
  type DocumentServices,
  type DocumentStore,
} from '../../src/collections/document-store.ts'
import { LocalDocumentTurns } from '../../src/collections/local-document-turns.ts'
import { findDocuments, type FindOptions } from '../../src/collections/find-documents.ts'
import { insertDocuments } from '../../src/collections/insert.ts'
import { selectDocuments, type Clauses } from '../../src/collections/selection.ts'
import type { CollectionOptions } from '../../src/engine/schema.ts'
import { wholeText } from '../../src/json/long-text.ts'
import { parseStored } from '../../src/json/parse.ts'
import { printJson } from '../../src/json/print.ts'
import type { JsonObject } from '../../src/json/value.ts'
import { defaultLimits, type Limits } from '../../src/limits.ts'
import { parseUpdate } from '../../src/language/updates/parse-update.ts'
import { json, object } from './json.ts'
import { collection, PlainEngine } from './plain-engine.ts'
import { WordModels } from './word-models.ts'

export const tester = ownCaller()

export interface Given {
  filter?: object
  sort?: object
  projection?: object
  lexicalOperator?: LexicalOperator
}

export class Fixture {
  readonly engine = new PlainEngine()
  readonly models = new WordModels()
  readonly turns = new LocalDocumentTurns()
  readonly documents: DocumentStore
  readonly #services: DocumentServices
  readonly #options: Partial<CollectionOptions>

  constructor(
    limits: Partial<Limits> = {},
    options: Partial<CollectionOptions> = {
      vector: { dimension: 2, metric: 'cosine', sourceModel: 'other' },
    },
  ) {
    const { engine, models } = this
    this.#services = {
      engine,
      models,
      documentTurns: this.turns,
      lexicalOperator: 'any',
      limits: { ...defaultLimits, ...limits },
    }
    this.#options = options
    this.documents = this.another()
  }

  another(): DocumentStore {
    return documentStoreOf(this.#services, collection(this.#options))
  }

  async insert(...documents: readonly object[]): Promise<void> {
    for (const { outcome } of await this.tryToInsert(documents))
      assert.equal(outcome, 'done')
  }

  tryToInsert(documents: readonly object[], ordered = true) {
    return insertDocuments(this.documents, documents.map(json), ordered, tester)
  }

  select({ lexicalOperator, ...given }: Given = {}) {
    const clauses: Clauses = Object.fromEntries(
      Object.entries(given).map(([name, clause]) => [name, json(clause)]),
    )
    return selectDocuments(this.documents, { ...clauses, lexicalOperator }, tester)
  }

  async page(given: Given, options: FindOptions = {}) {
    const page = await findDocuments(this.documents, this.select(given), options, tester)
    const documents = parseStored(`[${wholeText(page.documents)}]`) as JsonObject[]
    return {
      ...page,
      documents: documents.map(printJson),
      ids: documents.map((document) => idOf(printJson(document))),
    }
  }

  /** The ids of each page. */
  async pages(given: Given, options: FindOptions = {}) {
    const pages: unknown[][] = []
    let pageState: string | undefined
    do {
      const page = await this.page(given, { ...options, pageState })
      pages.push(page.ids)
      pageState = page.nextPageState ?? undefined
    } while (pageState !== undefined)
    return pages
  }

  /** Every document, search fields included, by ascending _id. */
  async all(): Promise<string[]> {
    return (await this.page({ sort: { _id: 1 }, projection: { '*': 1 } })).documents
  }

  update(given: Given, update: object, options = { upsert: false }) {
    const parsed = parseUpdate(json(update))
    return updateDocument(this.documents, this.select(given), parsed, options, tester)
  }

  updateMany(given: Given, update: object, options = { upsert: false }) {
    const parsed = parseUpdate(json(update))
    return updateDocuments(this.documents, this.select(given), parsed, options, tester)
  }

  replace(given: Given, replacement: object, options = { upsert: false }) {
    const selection = this.select(given)
    return replaceDocument(this.documents, selection, object(replacement), options, tester)
  }
}

function idOf(text: string): unknown {
  return (JSON.parse(text) as { _id: unknown })._id
}
