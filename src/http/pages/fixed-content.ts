/**
 * Content that does not change while the server runs, such as a page. Clients that have cached it
 * get 304 Not Modified.
 */
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { chooseEncoding, type Encoding } from '../compression.ts'

/** The content in compressed encodings. */
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
      // Clients may cache the content but must revalidate it, because it changes with the server's
      // version.
      'Cache-Control': 'no-cache',
      'X-Content-Type-Options': 'nosniff',
      ...(this.#encodings.length > 0 && { Vary: 'Accept-Encoding' }),
      ...headers,
    }
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    const accepted = request.headers['accept-encoding']
    const encoding = chooseEncoding(accepted, this.#encodings)
    // Each encoding needs its own ETag.
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

/**
 * Whether the client has cached the content with this ETag. A proxy may have marked the ETag as
 * weak. A weak ETag identifies the same content.
 */
function isKnown(tag: string, known: string | undefined): boolean {
  if (known === undefined) return false
  const tags = known.split(',').map((each) => each.trim())
  return tags.some((each) => each === '*' || each === tag || each === `W/${tag}`)
}
