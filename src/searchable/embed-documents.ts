/**
 * Makes existing documents searchable: reads the documents of a collection and sets their search
 * fields to the text of a template, with several requests in flight.
 *
 * The progress of a run is in the documents themselves. A later run skips documents that have their
 * search fields, so it continues after any interruption.
 *
 * No update of another client is lost. Only search fields are set, and only in a document whose
 * fields still have the values that the text was made from. If another client changes the document
 * meanwhile, it is read again. A vector that a client sent is never replaced.
 */
import { fieldAt, printFieldPath, type FieldMap, type FieldPath } from './field-path.ts'
import {
  lexicalTextOf,
  textSearchesOf,
  type SearchableOptions,
  type TextSearches,
} from './search-text.ts'
import { renderTemplate, type NumberPrinter, type TextTemplate } from './text-template.ts'

export interface EmbedOptions {
  readonly template: TextTemplate
  /** The options of the collection. */
  readonly collection: SearchableOptions
  /** Filter of the documents to embed; undefined for all. */
  readonly filter: unknown
  /** Whether documents are embedded again if their fields have changed since. */
  readonly refreshes: boolean
  readonly concurrency: number
  readonly printNumber: NumberPrinter
  /**
   * Sends a command, retries it while the server is busy, and returns the errors of the reply.
   * Throws when no command can succeed.
   */
  readonly send: (command: CommandTree) => Promise<EmbedReply>
  readonly onProgress: (counts: EmbedCounts) => void
  readonly onFailure: (failure: EmbedFailure) => void
  /** Stops the run. Requests in flight are awaited. */
  readonly signal: AbortSignal
}

/** A command as nested maps, arrays and values of documents. */
export type CommandTree = ReadonlyMap<string, unknown>

export interface EmbedReply {
  /** The documents of a find, or the document of a findOne or findOneAndUpdate. */
  readonly documents: readonly FieldMap[]
  readonly nextPageState: string | undefined
  readonly errors: readonly { readonly code: string; readonly message: string }[]
}

export interface EmbedCounts {
  /** Documents that were read; the sum of the other counts once they are settled. */
  readonly seen: number
  /** Documents that got search fields. */
  readonly embedded: number
  /** Documents that had all search fields. */
  readonly already: number
  /** Documents in which no field of the template has a text. */
  readonly textless: number
  /** Documents that another client removed meanwhile. */
  readonly removed: number
  readonly failed: number
  /** Embedded documents whose text is too long to be searched by words to its end. */
  readonly shortened: number
}

export interface EmbedFailure {
  readonly id: unknown
  readonly message: string
}

/** The run cannot continue. The message is for users. */
export class EmbedStop extends Error {
  override readonly name = 'EmbedStop'
}

/** Failures in a row after which the next document would probably fail, too. */
const failuresInRowMax = 10

/** Attempts to embed a document that other clients keep changing. */
const attemptsMax = 8

/** Codes of errors that every other document would get, too. */
const commonErrors = new Set([
  'COLLECTION_NOT_EXIST',
  'EMBEDDING_PROVIDER_AUTHENTICATION_KEYS_NOT_PROVIDED',
  'EMBEDDING_PROVIDER_BAD_HOST_NAME',
  'EMBEDDING_PROVIDER_UNAVAILABLE',
  'EMBEDDING_SERVICE_NOT_CONFIGURED',
  'UNAUTHENTICATED_REQUEST',
  'UNAUTHORIZED_ACCESS',
  'UNKNOWN_COLLECTION_OR_TABLE',
  'UNKNOWN_KEYSPACE',
])

export async function embedDocuments(options: EmbedOptions): Promise<EmbedCounts> {
  const run = new EmbedRun(options)
  await run.all()
  return run.counts
}

/** The search fields that a document lacks. */
interface Missing {
  readonly vectorize: boolean
  readonly lexical: boolean
}

class EmbedRun {
  readonly #options: EmbedOptions
  readonly #searches: TextSearches
  /** Whether filters may use the search fields, and each path of the template. */
  readonly #isIndexed: (path: FieldPath) => boolean
  readonly #projection: ReadonlyMap<string, unknown>
  #failuresInRow = 0
  #hasFailed = false
  counts: EmbedCounts = {
    ...{ seen: 0, embedded: 0, already: 0, textless: 0, removed: 0, failed: 0 },
    shortened: 0,
  }

  constructor(options: EmbedOptions) {
    this.#options = options
    const { collection, template } = options
    this.#searches = textSearchesOf(collection)
    this.#isIndexed = indexedPaths(collection)
    // Vectors are long. They are read only where a filter cannot tell whether there is one.
    const hidden = ['$vectorize', '$lexical', ...(this.#seesVectors() ? [] : ['$vector'])]
    this.#projection = new Map(
      [...outermost(template.paths), ...hidden].map((name) => [name, 1]),
    )
  }

  async all(): Promise<void> {
    const documents = this.#unfinished()
    // All workers share one generator. Each takes a document, embeds it, and takes the next one.
    const work = async () => {
      try {
        for (;;) {
          const { done, value } = await documents.next()
          if (done === true || this.#hasFailed) return
          await this.#embed(value)
        }
      } catch (error) {
        this.#hasFailed = true
        throw error
      }
    }
    const workers = Array.from({ length: this.#options.concurrency }, work)
    const outcomes = await Promise.allSettled(workers)
    await documents.return(undefined)
    const failed = outcomes.find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }

  /** Reads all documents, counts the finished ones, and yields the unfinished ones. */
  async *#unfinished(): AsyncGenerator<FieldMap, undefined> {
    const { filter, signal } = this.#options
    let pageState: string | undefined
    do {
      const reply = await this.#send('find', {
        ...(filter === undefined ? {} : { filter }),
        projection: this.#projection,
        ...(pageState === undefined
          ? {}
          : { options: new Map([['pageState', pageState]]) }),
      })
      const [error] = reply.errors
      if (error !== undefined) throw new EmbedStop(`${error.code}: ${error.message}`)
      for (const document of reply.documents) {
        if (signal.aborted || this.#hasFailed) return undefined
        this.#add('seen')
        const outcome = this.#settledAs(document)
        if (outcome === undefined) yield document
        else this.#add(outcome)
      }
      this.#options.onProgress(this.counts)
      pageState = reply.nextPageState
    } while (pageState !== undefined && !signal.aborted)
    return undefined
  }

  /** How a document counts that needs no change; undefined if it lacks a search field. */
  #settledAs(document: FieldMap): 'textless' | 'already' | undefined {
    const text = this.#textOf(document)
    const { vectorize, lexical } = this.#missingIn(document, text)
    if (!vectorize && !lexical) return text === '' ? 'textless' : 'already'
    return text === '' ? 'textless' : undefined
  }

  #missingIn(document: FieldMap, text: string): Missing {
    const { refreshes } = this.#options
    const lacks = (name: string, wanted: string) => {
      const own = document.get(name)
      return hasText(own) ? refreshes && own !== wanted : true
    }
    const hasOwnVector =
      document.has('$vector') &&
      document.get('$vector') !== null &&
      !document.has('$vectorize')
    return {
      vectorize: this.#searches.vectors && !hasOwnVector && lacks('$vectorize', text),
      lexical: this.#searches.words && lacks('$lexical', lexicalTextOf(text)),
    }
  }

  /**
   * Sets the search fields that the document lacks. Reads the document again if another client has
   * changed it.
   */
  async #embed(start: FieldMap): Promise<void> {
    let document = start
    let hasOwnVector = false
    /** The text that this run has set, although the document has another one by now. */
    let stale: string | undefined
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const text = this.#textOf(document)
      const missing = this.#missingIn(document, text)
      const vectorize =
        (missing.vectorize || (stale !== undefined && this.#searches.vectors)) &&
        !hasOwnVector
      const lexical = missing.lexical || (stale !== undefined && this.#searches.words)
      if (text === '' && stale === undefined) {
        this.#settle('textless')
        return
      }
      if (!vectorize && !lexical) {
        // An attempt whose reply was lost may have set the text.
        const isOurs = attempt > 0 && document.get('$vectorize') === text
        this.#settle(isOurs ? 'embedded' : 'already')
        return
      }
      const set = new Map<string, unknown>()
      if (vectorize) set.set('$vectorize', text)
      if (lexical) set.set('$lexical', lexicalTextOf(text))
      const reply = await this.#send('findOneAndUpdate', {
        filter: this.#conditions(document, vectorize),
        update: new Map([['$set', set]]),
        projection: this.#projection,
        options: new Map([['returnDocument', 'before']]),
      })
      if (reply.errors.length > 0) {
        this.#fail(document, reply.errors)
        return
      }
      const [before] = reply.documents
      if (before !== undefined && this.#textOf(before) === text) {
        if (lexical && lexicalTextOf(text) !== text) this.#add('shortened')
        this.#settle('embedded')
        return
      }
      if (before !== undefined) stale = text
      const now = await this.#read(document.get('_id'))
      if (now === undefined) {
        this.#settle('removed')
        return
      }
      // The fields are unchanged, so the condition that failed is that there is no vector.
      if (before === undefined && vectorize && this.#isSame(document, now))
        hasOwnVector = true
      document = now
    }
    this.#failOne(document, 'Other clients changed the document each time it was embedded.')
  }

  #isSame(one: FieldMap, other: FieldMap): boolean {
    return (
      this.#textOf(one) === this.#textOf(other) &&
      one.get('$vectorize') === other.get('$vectorize')
    )
  }

  /**
   * The filter of an update: the document, as long as the fields of the template and the absence of
   * a vector are as read. Fields without an index cannot be compared here. They are compared with
   * the document that the update returns.
   */
  #conditions(document: FieldMap, vectorize: boolean): ReadonlyMap<string, unknown> {
    const { template } = this.#options
    const conditions: FieldMap[] = [new Map([['_id', document.get('_id')]])]
    for (const path of template.paths) {
      const value = fieldAt(document, path)
      if (!this.#isIndexed(path) || value instanceof Map) continue
      const condition =
        value === undefined ? new Map([['$exists', false]]) : new Map([['$eq', value]])
      conditions.push(new Map([[printFieldPath(path), condition]]))
    }
    if (vectorize && this.#seesVectors()) {
      const name = document.has('$vectorize') ? '$vectorize' : '$vector'
      const exists = new Map([['$exists', document.has('$vectorize')]])
      conditions.push(new Map([[name, exists]]))
    }
    return new Map([['$and', conditions]])
  }

  async #read(id: unknown): Promise<FieldMap | undefined> {
    const filter = new Map([['_id', id]])
    const reply = await this.#send('findOne', { filter, projection: this.#projection })
    const [error] = reply.errors
    if (error !== undefined) throw new EmbedStop(`${error.code}: ${error.message}`)
    return reply.documents[0]
  }

  #seesVectors(): boolean {
    return this.#isIndexed(['$vector'])
  }

  #textOf(document: FieldMap): string {
    const { template, printNumber } = this.#options
    return renderTemplate(template, document, printNumber)
  }

  #fail(document: FieldMap, [error]: EmbedReply['errors']): void {
    const { code, message } = error!
    if (commonErrors.has(code)) throw new EmbedStop(`${code}: ${message}`)
    this.#failOne(document, `${code}: ${message}`)
  }

  #failOne(document: FieldMap, message: string): void {
    this.#add('failed')
    this.#options.onFailure({ id: document.get('_id'), message })
    this.#options.onProgress(this.counts)
    if (++this.#failuresInRow >= failuresInRowMax)
      throw new EmbedStop(
        `${failuresInRowMax} documents in a row failed. The last: ${message}`,
      )
  }

  #settle(outcome: 'embedded' | 'already' | 'textless' | 'removed'): void {
    if (outcome === 'embedded') this.#failuresInRow = 0
    this.#add(outcome)
    this.#options.onProgress(this.counts)
  }

  #add(name: keyof EmbedCounts): void {
    this.counts = { ...this.counts, [name]: this.counts[name] + 1 }
  }

  #send(name: string, fields: Readonly<Record<string, unknown>>): Promise<EmbedReply> {
    return this.#options.send(new Map([[name, new Map(Object.entries(fields))]]))
  }
}

function hasText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}

/**
 * The fields to read: the paths up to a position in an array, without paths below another one,
 * because a projection rejects both.
 */
function outermost(paths: readonly FieldPath[]): readonly string[] {
  const names = paths.map((path) => {
    const position = path.findIndex((name, depth) => depth > 0 && /^\d+$/.test(name))
    return printFieldPath(position < 0 ? path : path.slice(0, position))
  })
  return names.filter((name) => !names.some((other) => name.startsWith(`${other}.`)))
}

/** Whether filters may use a path, by the selective indexing of the collection. */
function indexedPaths({ indexing }: SearchableOptions): (path: FieldPath) => boolean {
  const isBelow = (path: string, above: string) =>
    path === above || path.startsWith(`${above}.`)
  const { allow = [], deny = [] } = indexing ?? {}
  if (deny.includes('*')) return () => false
  return (path) => {
    const [first] = path
    if (first!.startsWith('$') || (allow.length === 0 && deny.length === 0)) return true
    const name = printFieldPath(path)
    if (deny.length > 0)
      return !deny.some((denied) => isBelow(name, denied) || isBelow(denied, name))
    return allow.some((allowed) => allowed === '*' || isBelow(name, allowed))
  }
}
