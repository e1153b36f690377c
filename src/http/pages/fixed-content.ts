/**
 * Content that stays the same for as long as the server runs, such as a page. A client that
 * has it already is told so, and gets it no second time.
 */
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { chooseEncoding, type Encoding } from '../compression.ts'

/** The same content in other encodings, for clients that take them. */
export type PackedForms = Readonly<Partial<Record<Encoding, Buffer>>>

export class FixedContent {
  readonly #contentType: string
  readonly #body: Buffer
  readonly #packed: PackedForms
  readonly #encodings: readonly Encoding[]
  readonly #tag: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(
    contentType: string,
    body: string | Buffer,
    headers: Readonly<Record<string, string>> = {},
    packed: PackedForms = {},
  ) {
    this.#contentType = contentType
    this.#body = Buffer.from(body)
    this.#packed = packed
    this.#encodings = Object.keys(packed) as Encoding[]
    this.#tag = createHash('sha256').update(this.#body).digest('base64url')
    this.#headers = {
      // Kept, but asked about each time: it changes with the server.
      'Cache-Control': 'no-cache',
      'X-Content-Type-Options': 'nosniff',
      ...(this.#encodings.length > 0 && { Vary: 'Accept-Encoding' }),
      ...headers,
    }
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    const accepted = request.headers['accept-encoding']
    const encoding = chooseEncoding(accepted, this.#encodings)
    // Other bytes have another tag.
    const tag = encoding === undefined ? `"${this.#tag}"` : `"${this.#tag}-${encoding}"`
    const headers = { ...this.#headers, ETag: tag }
    if (isKnown(tag, request.headers['if-none-match'])) {
      response.writeHead(304, headers)
      response.end()
      return
    }
    const body = encoding === undefined ? this.#body : this.#packed[encoding]!
    response.writeHead(200, {
      ...headers,
      ...(encoding !== undefined && { 'Content-Encoding': encoding }),
      'Content-Type': this.#contentType,
      'Content-Length': body.length,
    })
    // Node omits the body of a reply to HEAD.
    response.end(body)
  }
}

/** Proxies may have marked a tag as weak: for the same bytes it still stands. */
function isKnown(tag: string, known: string | undefined): boolean {
  if (known === undefined) return false
  const tags = known.split(',').map((each) => each.trim())
  return tags.some((each) => each === '*' || each === tag || each === `W/${tag}`)
}
