/** Replaces letters, digits and signs by ASCII equivalents. */
import { flagIn } from '../arguments.ts'
import type { Arguments, TokenFilter } from '../stage.ts'
import { mapTexts, type TokenChange } from './basic.ts'

/**
 * Folds letters and signs to ASCII: "café" becomes "cafe". preserveOriginal also keeps the
 * original.
 */
export function asciiFolding(args: Arguments): TokenFilter {
  if (!flagIn(args, 'preserveOriginal', false)) return mapTexts(fold)
  return function* (tokens, steps) {
    for (const token of tokens) {
      const text = fold(token.text, steps)
      yield { ...token, text }
      if (text !== token.text) yield { ...token, step: 0 }
    }
  }
}

const fold: TokenChange = (text, steps) => {
  steps.take(2 * text.length)
  return foldToAscii(text)
}

export function foldToAscii(text: string): string {
  return text.replace(/[^\0-\x7f]/gu, (char) => {
    let folded = folds.get(char)
    if (folded === undefined) {
      folded = foldOf(char)
      folds.set(char, folded)
    }
    return folded
  })
}

/** Cache of folded characters; grows with the distinct characters of texts. */
const folds = new Map<string, string>()

/** Letters without a decomposition, and signs with an ASCII equivalent. */
const special: readonly (readonly [ascii: string, chars: string])[] = [
  ['A', 'ȺᴀⱯƏ'],
  ['AE', 'ÆǢǼᴁ'],
  ['B', 'ɃƁƂʙᴃ'],
  ['C', 'ȻƇᴄↃ'],
  ['D', 'ÐĐƉƊƋᴅᴆ'],
  ['E', 'ɆƎƐᴇⱻ'],
  ['F', 'Ƒꜰꟻ'],
  ['G', 'ǤƓɢʛꝽꝾ'],
  ['H', 'ĦⱧⱵʜ'],
  ['I', 'ƗƖɪᵻ'],
  ['J', 'Ɉᴊ'],
  ['K', 'ƘⱩᴋꝀꝂꝄ'],
  ['L', 'ŁȽⱠⱢʟᴌꝆꝈ'],
  ['M', 'ƜⱮᴍꟽ'],
  ['N', 'ŊƝȠɴᴎ'],
  ['O', 'ØǾƆƟᴏᴐꝊꝌ'],
  ['OE', 'Œɶ'],
  ['OU', 'Ȣᴕ'],
  ['P', 'ƤⱣᴘꝐꝒꝔ'],
  ['Q', 'Ɋꝗ'],
  ['R', 'ɌⱤʀʁᴙᴚꝚ'],
  ['S', 'ꜱ'],
  ['SS', 'ẞ'],
  ['T', 'ŦƬƮȾᴛꞆ'],
  ['TH', 'ÞꝦ'],
  ['U', 'ɄᴜᵾƱ'],
  ['V', 'ƲɅᴠꝞ'],
  ['W', 'Ⱳᴡ'],
  ['Y', 'ɎƳʏỾ'],
  ['Z', 'ƵȤⱫᴢ'],
  ['a', 'ɐəɚᶏᶕⱥ'],
  ['ae', 'æǣǽᴂ'],
  ['b', 'ƀƃɓᵬᶀ'],
  ['c', 'ƈȼɕↄꜿ'],
  ['d', 'ðđƌɖɗȡᵭᶁᶑ'],
  ['db', 'ȸ'],
  ['e', 'ɇǝɘɛɜɝɞʚᴈᶒᶓⱸ'],
  ['f', 'ƒᵮᶂẛ'],
  ['g', 'ǥɠɡᵷᵹᶃꝿ'],
  ['h', 'ħɥɦʮʯⱨⱶ'],
  ['hv', 'ƕ'],
  ['i', 'ıɨᴉᵼᶖ'],
  ['j', 'ȷɉɟʄʝ'],
  ['k', 'ƙᶄⱪꝁꝃꝅ'],
  ['l', 'łƚȴɫɬɭᶅⱡꝇꝉ'],
  ['m', 'ɯɰɱᵯᶆ'],
  ['n', 'ŋƞȵɲɳᵰᶇ'],
  ['o', 'øǿɔɵᴑᴓᴖᴗᶗⱺꝋꝍ'],
  ['oe', 'œᴔ'],
  ['ou', 'ȣ'],
  ['p', 'ƥᵱᵽᶈꝑꝓꝕ'],
  ['q', 'ɋʠĸꝙ'],
  ['qp', 'ȹ'],
  ['r', 'ɍɼɽɾɿᵲᵳᶉꝛ'],
  ['s', 'ſȿʂᵴᶊẜẝ'],
  ['ss', 'ß'],
  ['t', 'ŧƫƭȶʇʈⱦᵵꞇ'],
  ['th', 'þᵺꝧ'],
  ['u', 'ʉᶙᵿ'],
  ['v', 'ʋʌᴧᶌⱱⱴꝟ'],
  ['w', 'ʍⱳ'],
  ['x', 'ᶍ'],
  ['y', 'ɏƴʎỿ'],
  ['z', 'ƶȥɀʐʑᵶᶎⱬ'],
  ['"', '«»“”„″‶❝❞❮❯'],
  ["'", '‘’‚‛′‵‹›❛❜'],
  ['-', '‐‑‒–—⁻₋'],
  ['*', '⁎'],
  ['/', '⁄'],
  ['!!', '‼'],
  ['??', '⁇'],
  ['?!', '⁈'],
  ['!?', '⁉'],
  ['~', '⁓'],
  [';', '⁏'],
  ['%', '⁒'],
  ['^', '‸'],
  ['[', '⁅❲'],
  [']', '⁆❳'],
  ['(', '❨❪⁽₍'],
  [')', '❩❫⁾₎'],
  ['<', '❬❰'],
  ['>', '❭❱'],
  ['{', '❴'],
  ['}', '❵'],
  ['+', '⁺₊'],
  ['=', '⁼₌'],
]

const specialFolds = new Map(
  special.flatMap(([ascii, chars]) => Array.from(chars, (char) => [char, ascii] as const)),
)

/** Letters and digits, including bracketed, circled and full-width ones. */
const foldable = /[\p{L}\p{N}\u249c-\u24e9\uff01-\uff5e]/u

function foldOf(char: string): string {
  const ascii = specialFolds.get(char)
  if (ascii !== undefined) return ascii
  if (!foldable.test(char)) return char
  const parts = char.normalize('NFKD').replace(/\p{M}/gu, '')
  // The remaining character may have a fold of its own: "Ǿ" is "Ø" with an accent.
  const folded = parts.replace(/[^\0-\x7f]/gu, (part) =>
    foldable.test(part) ? (specialFolds.get(part) ?? part) : part,
  )
  return /^[\0-\x7f]+$/.test(folded) ? folded : char
}
