/**
 * Content that stays the same for as long as the server runs, such as a page: sent to those
 * who do not have it yet, and confirmed to those who do.
 */
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

export class FixedContent {
  readonly #contentType: string
  readonly #body: Buffer
  readonly #tag: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(
    contentType: string,
    body: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    this.#contentType = contentType
    this.#body = Buffer.from(body)
    this.#tag = `"${createHash('sha256').update(this.#body).digest('base64url')}"`
    this.#headers = {
      // Kept, but asked about each time: it changes with the server.
      'Cache-Control': 'no-cache',
      ETag: this.#tag,
      'X-Content-Type-Options': 'nosniff',
      ...headers,
    }
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    if (this.#isKnown(request.headers['if-none-match'])) {
      response.writeHead(304, this.#headers)
      response.end()
      return
    }
    response.writeHead(200, {
      ...this.#headers,
      'Content-Type': this.#contentType,
      'Content-Length': this.#body.length,
    })
    // Node leaves the body out for those who asked with HEAD.
    response.end(this.#body)
  }

  /** Proxies may have marked a tag as weak: for the same bytes it still stands. */
  #isKnown(tags: string | undefined): boolean {
    if (tags === undefined) return false
    return tags.trim() === '*' || tags.split(',').some((tag) => this.#isTag(tag.trim()))
  }

  #isTag(tag: string): boolean {
    return tag === this.#tag || tag === `W/${this.#tag}`
  }
}
