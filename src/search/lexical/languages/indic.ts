/**
 * Scripts of India. Their Unicode blocks share one layout, so a table of offsets applies to
 * several of them.
 */
import { inTurn, type StemmerStep } from './endings.ts'
import { rewriting } from './letters.ts'

const blocks = {
  devanagari: 0x0900,
  bengali: 0x0980,
  gurmukhi: 0x0a00,
  gujarati: 0x0a80,
  oriya: 0x0b00,
  tamil: 0x0b80,
  telugu: 0x0c00,
  kannada: 0x0c80,
  malayalam: 0x0d00,
} as const

type Block = keyof typeof blocks

/**
 * Sequences of signs, as keyboards enter them, and the equivalent single sign, as offsets in a
 * block.
 */
const compositions: readonly (readonly [
  signs: readonly number[],
  one: number,
  ...blocks: Block[],
])[] = [
  [[0x05, 0x3e, 0x45], 0x11, 'devanagari', 'gujarati'],
  [[0x05, 0x3e, 0x46], 0x12, 'devanagari'],
  [[0x05, 0x3e, 0x47], 0x13, 'devanagari', 'gujarati'],
  [[0x05, 0x3e, 0x48], 0x14, 'devanagari', 'gujarati'],
  [[0x05, 0x3e], 0x06, 'devanagari', 'bengali', 'gurmukhi', 'gujarati', 'oriya'],
  [[0x05, 0x45], 0x72, 'devanagari'],
  [[0x05, 0x45], 0x0d, 'gujarati'],
  [[0x05, 0x46], 0x04, 'devanagari'],
  [[0x05, 0x47], 0x0f, 'gujarati'],
  [[0x05, 0x48], 0x10, 'gurmukhi', 'gujarati'],
  [[0x05, 0x49], 0x11, 'devanagari', 'gujarati'],
  [[0x05, 0x4a], 0x12, 'devanagari'],
  [[0x05, 0x4b], 0x13, 'devanagari', 'gujarati'],
  [[0x05, 0x4c], 0x14, 'devanagari', 'gurmukhi', 'gujarati'],
  [[0x06, 0x45], 0x11, 'devanagari', 'gujarati'],
  [[0x06, 0x46], 0x12, 'devanagari'],
  [[0x06, 0x47], 0x13, 'devanagari', 'gujarati'],
  [[0x06, 0x48], 0x14, 'devanagari', 'gujarati'],
  [[0x07, 0x57], 0x08, 'malayalam'],
  [[0x09, 0x41], 0x0a, 'devanagari'],
  [[0x09, 0x57], 0x0a, 'tamil', 'malayalam'],
  [[0x0e, 0x46], 0x10, 'malayalam'],
  [[0x0f, 0x45], 0x0d, 'devanagari'],
  [[0x0f, 0x46], 0x0e, 'devanagari'],
  [[0x0f, 0x47], 0x10, 'devanagari'],
  [[0x0f, 0x57], 0x10, 'oriya'],
  [[0x12, 0x3e], 0x13, 'malayalam'],
  [[0x12, 0x4c], 0x14, 'telugu', 'kannada'],
  [[0x12, 0x55], 0x13, 'telugu'],
  [[0x12, 0x57], 0x14, 'tamil', 'malayalam'],
  [[0x13, 0x57], 0x14, 'oriya'],
  [[0x15, 0x3c], 0x58, 'devanagari'],
  [[0x16, 0x3c], 0x59, 'devanagari', 'gurmukhi'],
  [[0x17, 0x3c], 0x5a, 'devanagari', 'gurmukhi'],
  [[0x1c, 0x3c], 0x5b, 'devanagari', 'gurmukhi'],
  [[0x21, 0x3c], 0x5c, 'devanagari', 'bengali', 'oriya'],
  [[0x22, 0x3c], 0x5d, 'devanagari', 'bengali', 'oriya'],
  [[0x28, 0x3c], 0x29, 'devanagari'],
  [[0x2b, 0x3c], 0x5e, 'devanagari', 'gurmukhi'],
  [[0x2f, 0x3c], 0x5f, 'devanagari', 'bengali'],
  [[0x2c, 0x41, 0x41], 0x0b, 'telugu'],
  [[0x30, 0x3c], 0x31, 'devanagari'],
  [[0x33, 0x3c], 0x34, 'devanagari'],
  [[0x35, 0x41], 0x2e, 'telugu'],
  [[0x3e, 0x45], 0x49, 'devanagari', 'gujarati'],
  [[0x3e, 0x46], 0x4a, 'devanagari'],
  [[0x3e, 0x47], 0x4b, 'devanagari', 'gujarati'],
  [[0x3e, 0x48], 0x4c, 'devanagari', 'gujarati'],
  [[0x3f, 0x55], 0x40, 'kannada'],
  [[0x41, 0x41], 0x42, 'gurmukhi'],
  [[0x46, 0x3e], 0x4a, 'tamil', 'malayalam'],
  [[0x46, 0x42, 0x55], 0x4b, 'kannada'],
  [[0x46, 0x42], 0x4a, 'kannada'],
  [[0x46, 0x46], 0x48, 'malayalam'],
  [[0x46, 0x55], 0x47, 'telugu', 'kannada'],
  [[0x46, 0x56], 0x48, 'telugu', 'kannada'],
  [[0x46, 0x57], 0x4c, 'tamil', 'malayalam'],
  [[0x47, 0x3e], 0x4b, 'bengali', 'oriya', 'tamil', 'malayalam'],
  [[0x47, 0x57], 0x4c, 'bengali', 'oriya'],
  [[0x4a, 0x55], 0x4b, 'kannada'],
  [[0x72, 0x3f], 0x07, 'gurmukhi'],
  [[0x72, 0x40], 0x08, 'gurmukhi'],
  [[0x72, 0x47], 0x0f, 'gurmukhi'],
  [[0x73, 0x41], 0x09, 'gurmukhi'],
  [[0x73, 0x42], 0x0a, 'gurmukhi'],
  [[0x73, 0x4b], 0x13, 'gurmukhi'],
]

/** Consonants without their inherent vowel: written with virama and joiner, or as a single sign. */
const silenced: readonly (readonly [consonant: number, one: number, block: Block])[] = [
  [0x24, 0x4e, 'bengali'],
  [0x23, 0x7a, 'malayalam'],
  [0x28, 0x7b, 'malayalam'],
  [0x30, 0x7c, 'malayalam'],
  [0x32, 0x7d, 'malayalam'],
  [0x33, 0x7e, 'malayalam'],
]

const composed: ReadonlyMap<string, string> = new Map([
  ...compositions.flatMap(([signs, one, ...names]) =>
    names.map(
      (block) =>
        [signs.map((sign) => signAt(block, sign)).join(''), signAt(block, one)] as const,
    ),
  ),
  ...silenced.map(
    ([consonant, one, block]) =>
      [
        `${signAt(block, consonant)}${signAt(block, 0x4d)}\u200d`,
        signAt(block, one),
      ] as const,
  ),
])

const composable = new RegExp(
  [...composed.keys()].toSorted((one, other) => other.length - one.length).join('|'),
  'g',
)

/** Unifies signs for the same sound, in all scripts of India. */
export function indicNormalization(word: string): string {
  return word.replace(composable, (signs) => composed.get(signs)!)
}

function signAt(block: Block, place: number): string {
  return String.fromCharCode(blocks[block] + place)
}

/** Removes signs that Hindi often omits, and shortens long vowels. */
export const hindiNormalization: StemmerStep = inTurn(
  (word) => word.replaceAll('\u0928\u094d', '\u0902'),
  rewriting(
    '\u0901:\u0902 \u093c\u200c\u200d\u094d: \u0929:\u0928 \u0931:\u0930 \u0934:\u0933 ' +
      '\u0958:\u0915 \u0959:\u0916 \u095a:\u0917 \u095b:\u091c \u095c:\u0921 ' +
      '\u095d:\u0922 \u095e:\u092b \u095f:\u092f ' +
      '\u0945\u0946\u0948:\u0947 \u0949\u094a\u094c:\u094b ' +
      '\u090d\u090e\u0910:\u090f \u0911\u0912\u0914:\u0913 \u0972\u0906:\u0905 ' +
      '\u0908:\u0907 \u090a:\u0909 \u0960:\u090b \u0961:\u090c ' +
      '\u0940:\u093f \u0942:\u0941 \u0944:\u0943 \u0963:\u0962',
  ),
)

/** Shortens vowels, unifies nasal signs, and removes the visarga. */
export const teluguNormalization: StemmerStep = inTurn(
  (word) =>
    word
      .replaceAll('\u0c46\u0c56', '\u0c48')
      .replaceAll('\u0c12\u0c55', '\u0c13')
      .replaceAll('\u0c12\u0c4c', '\u0c14'),
  rewriting(
    '\u0c00\u0c01:\u0c02 \u0c03\u200c\u200d: \u0c14:\u0c13 \u0c10:\u0c0f \u0c06:\u0c05 ' +
      '\u0c08:\u0c07 \u0c0a:\u0c09 \u0c40:\u0c3f \u0c42:\u0c41 \u0c47:\u0c46 \u0c4b:\u0c4a',
  ),
)
