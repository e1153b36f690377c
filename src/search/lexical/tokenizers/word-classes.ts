/**
 * What a character is where words are separated, after Unicode's annex 29. Classes are
 * made from the character properties that JavaScript knows, a page of 256 at a time, when
 * the first text needs that page.
 */
const other = 0
export const letter = 1
export const hebrew = 2
export const hangul = 3
export const number = 4
export const katakana = 5
/** Joins what it stands between or beside: "_". */
export const connector = 6
/** Belongs to whatever stands before it: accents, joiners, direction marks. */
export const extender = 7
/** Joins letters: ":" */
export const letterJoiner = 8
/** Joins digits: "," */
export const numberJoiner = 9
/** Joins letters as well as digits: "." and apostrophes. */
export const joiner = 10
export const doubleQuote = 11
/** Words are not separated: each character is a token. */
export const han = 12
export const hiragana = 13
/** Words are not separated, and characters mean little: all in a row are a token. */
export const southeastAsian = 14
export const emoji = 15
export const skinTone = 16
/** Two of these are a flag. */
export const regional = 17
/** "#" and "*", which may start a keycap. */
export const keycapSign = 18

/** The first that fits counts. */
const rules: readonly (readonly [RegExp, number])[] = [
  [/[#*]/, keycapSign],
  [/[\u{1f3fb}-\u{1f3ff}]/u, skinTone],
  [/[\u{1f1e6}-\u{1f1ff}]/u, regional],
  [/\u200b/, other],
  [/[\p{M}\p{Cf}\uff9e\uff9f]/u, extender],
  [/[\p{Nd}\u066b]/u, number],
  [/[\p{Pc}\u202f]/u, connector],
  [/['.\u2018\u2019\u2024\ufe52\uff07\uff0e]/, joiner],
  [/[:\u00b7\u0387\u055f\u05f4\u2027\ufe13\ufe55\uff1a]/, letterJoiner],
  [
    /[,;\u037e\u0589\u060c\u060d\u066c\u07f8\u2044\ufe10\ufe14\ufe50\ufe54\uff0c\uff1b]/,
    numberJoiner,
  ],
  [/"/, doubleQuote],
  [/[©®™〰〽]/, other],
  [/(?!\p{Alphabetic})\p{Emoji}/u, emoji],
  [/[\p{Script=Katakana}\u3031-\u3035\u309b\u309c\u30a0\u30fc\uff70]/u, katakana],
  [/\p{Script=Hiragana}/u, hiragana],
  [/[\p{Script=Han}\p{Ideographic}]/u, han],
  [
    /(?=\p{L})[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tai_Le}\p{Script=New_Tai_Lue}\p{Script=Tai_Tham}\p{Script=Tai_Viet}\p{Script=Ahom}]/u,
    southeastAsian,
  ],
  [/(?=\p{Script=Hangul})\p{Alphabetic}/u, hangul],
  [/(?=\p{Script=Hebrew})\p{Alphabetic}/u, hebrew],
  [/[\p{Alphabetic}\u05f3]/u, letter],
]

const pages: (Uint8Array | undefined)[] = []

export function classOf(char: number): number {
  const page = pages[char >> 8] ?? addPage(char >> 8)
  return page[char & 0xff]!
}

function addPage(page: number): Uint8Array {
  const classes = Uint8Array.from({ length: 256 }, (_, i) => {
    const char = String.fromCodePoint((page << 8) | i)
    return rules.find(([pattern]) => pattern.test(char))?.[1] ?? other
  })
  pages[page] = classes
  return classes
}
