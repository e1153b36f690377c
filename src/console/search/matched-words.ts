/** Which words of a text are those that were searched for, as far as that can be told from here. */

/** A part of a text. */
export interface Piece {
  readonly text: string
  readonly isMatch: boolean
}

const word = /[\p{L}\p{N}]+/gu

/** Stems of the words of a query. */
export function stemsOf(query: string): ReadonlySet<string> {
  return new Set((query.match(word) ?? []).map(stem))
}

/**
 * English endings, roughly: the analyzer of a collection knows better, but it is in the server.
 * Words of other languages are left as they are, mostly.
 */
export function stem(given: string): string {
  const lower = given.toLowerCase().normalize('NFKC')
  if (lower.length < 4) return lower
  const bare = lower
    .replace(/ies$/, 'y')
    .replace(/(?<=[^aeiou])(?:sses)$/, 'ss')
    .replace(/(?<=.{3})(?:ing|ed)$/, '')
    .replace(/(?<=ch|sh|x|z)es$/, '')
    .replace(/(?<=[^s])s$/, '')
  return bare.length < 3 ? lower : bare.replace(/(?<=.{3})e$/, '').replace(/(.)\1$/, '$1')
}

/** The text in pieces, those that match apart from the others. */
export function markWords(text: string, stems: ReadonlySet<string>): readonly Piece[] {
  const pieces: Piece[] = []
  let from = 0
  if (stems.size > 0)
    for (const found of text.matchAll(word)) {
      if (!stems.has(stem(found[0]))) continue
      if (found.index > from)
        pieces.push({ text: text.slice(from, found.index), isMatch: false })
      pieces.push({ text: found[0], isMatch: true })
      from = found.index + found[0].length
    }
  if (from < text.length) pieces.push({ text: text.slice(from), isMatch: false })
  return pieces
}

/** How many words match. */
export function countMatches(text: string, stems: ReadonlySet<string>): number {
  let count = 0
  for (const [found] of text.matchAll(word)) if (stems.has(stem(found))) count++
  return count
}

/** Characters that a result shows of a text. */
const excerptLength = 260
const before = 80
/** Of a long text no more is looked through. */
const searchedLength = 200_000

/** A part of a long text, around the first word that matches. */
export function excerptOf(text: string, stems: ReadonlySet<string>): string {
  if (text.length <= excerptLength) return text
  let at = 0
  for (const found of text.slice(0, searchedLength).matchAll(word))
    if (stems.has(stem(found[0]))) {
      at = found.index
      break
    }
  const start = at <= before ? 0 : at - before
  const from = start === 0 ? 0 : text.indexOf(' ', start) + 1 || start
  const cut = text.slice(Math.min(from, at), Math.min(from, at) + excerptLength)
  const isEnd = Math.min(from, at) + excerptLength >= text.length
  return `${from > 0 ? '…' : ''}${cut}${isEnd ? '' : '…'}`
}
