/** For Chinese, Japanese and Korean: widths, pairs of characters, and digits of all kinds. */
import { flagIn } from '../arguments.ts'
import { TokenList } from '../bounds.ts'
import type { Arguments, Token, TokenFilter, TokenKind } from '../stage.ts'
import { adjoins } from '../tokenizers/token.ts'
import { mapTexts } from './basic.ts'

/** Full-width ASCII becomes plain, and half-width katakana full. */
export function foldWidth(text: string): string {
  return text
    .replace(/[\uff01-\uff5e]/g, (char) => String.fromCharCode(char.charCodeAt(0) - 0xfee0))
    .replace(/[\u30a1-\u30fe]?[\uff65-\uff9f]+/g, (run) => run.normalize('NFKC'))
}

export const cjkWidth: TokenFilter = mapTexts(foldWidth)

/** Digits of all scripts become ASCII ones. */
export const decimalDigit: TokenFilter = mapTexts((text) =>
  text.replace(/(?![0-9])\p{Nd}/gu, (digit) => {
    // Digits come in rows of ten, from zero on, and rows may follow each other.
    const char = digit.codePointAt(0)!
    let zero = char
    while (isDigit(zero - 1)) zero--
    return String((char - zero) % 10)
  }),
)

function isDigit(char: number): boolean {
  return /\p{Nd}/u.test(String.fromCodePoint(char))
}

const scripts = ['han', 'hiragana', 'katakana', 'hangul'] as const

/**
 * Makes pairs of neighbouring characters, as words are not told apart: "一二三" is "一二"
 * and "二三". A character on its own stays; tokens of other scripts pass.
 */
export function cjkBigram(args: Arguments): TokenFilter {
  const paired = new Set<TokenKind>(scripts.filter((script) => flagIn(args, script, true)))
  const outputUnigrams = flagIn(args, 'outputUnigrams', false)
  return (tokens) => {
    const list = new TokenList()
    let row: Row = []
    for (const token of tokens) {
      const isPaired = paired.has(token.kind)
      if (!isPaired || !adjoins(token)) {
        addRow(list, row, outputUnigrams)
        row = []
      }
      if (isPaired)
        for (const [i, text] of Array.from(token.text).entries())
          row.push({ ...token, text, step: i === 0 ? token.step : 1 })
      else list.add(token)
    }
    addRow(list, row, outputUnigrams)
    return list.tokens
  }
}

/** Characters without anything between them, a token each. */
type Row = Token[]

function addRow(list: TokenList, row: Row, outputUnigrams: boolean): void {
  if (row.length === 1) list.add(row[0]!)
  if (row.length <= 1) return
  for (const [i, char] of row.entries()) {
    const next = row[i + 1]
    if (outputUnigrams) list.add(char)
    if (next !== undefined)
      list.add({
        ...char,
        text: char.text + next.text,
        step: outputUnigrams ? 0 : char.step,
        kind: 'gram',
      })
  }
}
