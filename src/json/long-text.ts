/**
 * Texts that may be very long: lists of documents, and the replies that carry them.
 *
 * A long one is kept in parts, and nothing is done to all of them at a time: to join a
 * hundred megabytes, or only to count their bytes, holds a thread for too long.
 */

/** A text, or the parts of one. A character is never cut in two. */
export type LongText = string | readonly string[]

/** Characters from which on a text is a part of its own. Shorter ones are joined. */
const partLength = 65_536

/** Makes one text of several, with commas between them. */
export class CommaList {
  readonly #parts: string[] = []
  /** An empty one stands for what is in the parts already. */
  #short: string[] = []
  #length = 0

  /** The text is not empty. */
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

  /** Everything that was added. */
  text(): LongText {
    this.#joinShort()
    return this.#parts.length > 1 ? this.#parts : (this.#parts[0] ?? '')
  }
}

/** For texts that are short or have one part. */
export function wholeText(text: LongText): string {
  return typeof text === 'string' ? text : text.join('')
}
