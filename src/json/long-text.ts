/**
 * Texts that may be very long, such as lists of documents and replies.
 *
 * A long text is kept in parts that are processed one at a time: joining or even measuring
 * a hundred megabytes blocks a thread for too long.
 */

/** A string, or its parts. Parts never split a surrogate pair. */
export type LongText = string | readonly string[]

/** Minimum characters of a text that is kept as a separate part. Shorter texts are joined. */
const partLength = 65_536

/** Joins texts with commas. */
export class CommaList {
  readonly #parts: string[] = []
  /**
   * Short texts to be joined. An empty text represents a long text in `#parts`, so that commas are
   * added around the long text.
   */
  #short: string[] = []
  #length = 0

  /** Adds a non-empty text. */
  add(text: string): void {
    const isLong = text.length >= partLength
    this.#short.push(isLong ? '' : text)
    this.#length += text.length
    if (this.#length < partLength) return
    this.#joinShort()
    if (isLong) this.#parts.push(text)
  }

  #joinShort(): void {
    const part = this.#short.join(',')
    if (part !== '') this.#parts.push(part)
    this.#short = ['']
    this.#length = 0
  }

  /** The joined text. */
  text(): LongText {
    this.#joinShort()
    return this.#parts.length > 1 ? this.#parts : (this.#parts[0] ?? '')
  }
}

/** Joins the parts. For short texts only. */
export function wholeText(text: LongText): string {
  return typeof text === 'string' ? text : text.join('')
}
