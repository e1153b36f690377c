/**
 * Finds the words of a text that match a query. The result is an approximation, because the
 * analyzer runs only in the server.
 */

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
 * Strips English suffixes, which approximates the collection's analyzer. Most words of other
 * languages are not changed.
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

/** Splits the text into pieces that match and pieces that do not. */
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

/** Number of matching words. */
export function countMatches(text: string, stems: ReadonlySet<string>): number {
  let count = 0
  for (const [found] of text.matchAll(word)) if (stems.has(stem(found))) count++
  return count
}

/** Characters of a text that a result shows. */
const excerptLength = 260
const before = 80
/** Maximum characters of a text in which a match is searched for the excerpt. */
const searchedLength = 200_000

/** An excerpt of a long text around its first match. */
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
