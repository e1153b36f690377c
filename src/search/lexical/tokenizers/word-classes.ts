/**
 * Word-break classes of characters, after Unicode Standard Annex 29. The classes are derived from
 * character properties of JavaScript, in pages of 256 characters, when a text first needs a page.
 */
const other = 0
export const letter = 1
export const hebrew = 2
export const hangul = 3
export const number = 4
export const katakana = 5
/** Joins adjacent characters, such as "_". */
export const connector = 6
/** Belongs to the preceding character: accents, joiners, direction marks. */
export const extender = 7
/** Joins letters: ":" */
export const letterJoiner = 8
/** Joins digits: "," */
export const numberJoiner = 9
/** Joins letters and digits: "." and apostrophes. */
export const joiner = 10
export const doubleQuote = 11
/** Chinese characters. Words are not separated, so each character is a token. */
export const han = 12
export const hiragana = 13
/**
 * Letters of Thai and related scripts. Words are not separated, and single characters carry little
 * meaning, so a run is a token.
 */
export const southeastAsian = 14
export const emoji = 15
export const skinTone = 16
/** A letter of a flag: two of these form a flag. */
export const regional = 17
/** "#" and "*", which can start a keycap. */
export const keycapSign = 18

/** The class of each kind of character; the first match determines the class. */
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
