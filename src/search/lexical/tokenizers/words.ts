/**
 * Finds the words of a text by the rules of Unicode Standard Annex 29, like Lucene's standard
 * tokenizer: "can't", "3.14" and "a_b" are one word each, punctuation is skipped, and every Chinese
 * character is a word.
 */
import type { StepBudget } from '../../../caller/analysis-budget.ts'
import { fixedLimits } from '../../../limits.ts'
import type { TokenKind } from '../stage.ts'
import {
  classOf,
  connector,
  doubleQuote,
  emoji,
  extender,
  han,
  hangul,
  hebrew,
  hiragana,
  joiner,
  katakana,
  keycapSign,
  letter,
  letterJoiner,
  number,
  numberJoiner,
  regional,
  skinTone,
  southeastAsian,
} from './word-classes.ts'

/** Maximum characters that are scanned for the next word before their cost is charged. */
const gapCounted = 1_024

/** A cursor over the words of a text, which allocates nothing per word. */
export class Words {
  start = 0
  end = 0
  kind: TokenKind = 'word'
  /** Whether this word directly follows the previous one. */
  adjoins = false
  readonly #text: string
  readonly #steps: StepBudget
  readonly #lengthMax: number
  /** Maximum end of the current word. */
  #limit = 0

  constructor(
    text: string,
    steps: StepBudget,
    lengthMax: number = fixedLimits.wordLengthMax,
  ) {
    this.#text = text
    this.#steps = steps
    this.#lengthMax = lengthMax
  }

  /** Moves to the next word; false at the end of the text. */
  next(): boolean {
    return this.moveTo(this.end)
  }

  /** Moves to the first word that starts at or after a position; false at the end of the text. */
  moveTo(from: number): boolean {
    const text = this.#text
    const before = this.end
    let start = from
    let counted = from
    while (start < text.length) {
      if (start - counted > gapCounted) {
        this.#steps.take(start - counted)
        counted = start
      }
      this.#limit = Math.min(text.length, start + this.#lengthMax)
      const end = this.#read(start)
      if (end > start) {
        this.adjoins = start === before && start > 0
        this.start = start
        this.end = end
        this.#steps.take(end - counted)
        return true
      }
      // No word starts here, or there are only connectors without a word to connect.
      start = end < start ? -end : start + lengthOf(text.codePointAt(start)!)
    }
    return false
  }

  /**
   * The end of the word that starts here. If no word starts here: `start`, or minus the position
   * after connectors without a word.
   */
  #read(start: number): number {
    const first = this.#text.codePointAt(start)!
    const next = start + lengthOf(first)
    switch (classOf(first)) {
      case letter:
      case hebrew:
      case hangul:
      case number:
      case katakana:
      case connector:
        return this.#readWord(start)
      case han:
        this.kind = 'han'
        return this.#skipExtenders(next)
      case hiragana:
        this.kind = 'hiragana'
        return this.#skipExtenders(next)
      case southeastAsian:
        this.kind = 'southeast-asian'
        return this.#readRow(next)
      case emoji:
      case skinTone:
        this.kind = 'emoji'
        return this.#readEmoji(next)
      case regional:
        this.kind = 'emoji'
        return this.#classAt(next) === regional ? this.#skipExtenders(next + 2) : start
      case keycapSign:
        this.kind = 'emoji'
        return this.#readKeycap(start)
      default:
        return start
    }
  }

  #readWord(start: number): number {
    const text = this.#text
    let end = start
    /** Class of the last character, ignoring extenders. */
    let last = connector
    /** Classes that occur, one bit each. */
    let seen = 0
    while (end < this.#limit) {
      const char = text.codePointAt(end)!
      let next = end + lengthOf(char)
      if (next > this.#limit && end > start) break
      const found = classOf(char)
      if (found === extender) {
        end = next
        continue
      }
      if (isContent(found) || found === katakana) {
        if (last !== connector && (found === katakana) !== (last === katakana)) break
        seen |= 1 << found
      } else if (found !== connector) {
        if (last === hebrew && char === apostrophe) {
          end = next
          // The apostrophe belongs to the Hebrew word, which continues only if a letter follows.
          if (!isLetter(this.#classAt(this.#skipExtenders(end)))) break
          continue
        }
        next = this.#skipExtenders(next)
        if (!joins(found, last, this.#classAt(next))) break
        end = next
        continue
      }
      last = found
      end = next
    }
    if (seen === 0) return -end
    this.kind = kindOf(seen)
    return end
  }

  #readRow(from: number): number {
    let end = this.#skipExtenders(from)
    while (this.#classAt(end) === southeastAsian)
      end = this.#skipExtenders(end + lengthOf(this.#text.codePointAt(end)!))
    return end
  }

  /** The end of a word of emojis, which zero-width joiners join. */
  #readEmoji(from: number): number {
    let end = from
    for (;;) {
      end = this.#skipExtenders(end, skinTone)
      const joined = this.#text.charCodeAt(end - 1) === zeroWidthJoiner
      const found = this.#classAt(end)
      if (!joined || found !== emoji) return end
      end += lengthOf(this.#text.codePointAt(end)!)
    }
  }

  #readKeycap(start: number): number {
    const end = this.#skipExtenders(start + 1)
    return this.#text.slice(start + 1, end).includes('\u20e3') ? end : start
  }

  #skipExtenders(from: number, also: number = extender): number {
    let end = from
    for (;;) {
      const found = this.#classAt(end)
      if (found !== extender && found !== also) return end
      end += lengthOf(this.#text.codePointAt(end)!)
    }
  }

  /** Class of the character at a position; undefined at the limit. */
  #classAt(position: number): number | undefined {
    return position < this.#limit ? classOf(this.#text.codePointAt(position)!) : undefined
  }
}

const apostrophe = 0x27
const zeroWidthJoiner = '\u200d'.charCodeAt(0)

function lengthOf(char: number): number {
  return char > 0xffff ? 2 : 1
}

function isLetter(found: number | undefined): boolean {
  return found === letter || found === hebrew || found === hangul
}

function isContent(found: number): boolean {
  return isLetter(found) || found === number
}

/** Whether punctuation joins the characters before and after it. */
function joins(found: number, before: number, after: number | undefined): boolean {
  switch (found) {
    case joiner:
      return isLetter(before) ? isLetter(after) : before === number && after === number
    case letterJoiner:
      return isLetter(before) && isLetter(after)
    case numberJoiner:
      return before === number && after === number
    case doubleQuote:
      return before === hebrew && after === hebrew
    default:
      return false
  }
}

function kindOf(seen: number): TokenKind {
  if (seen === 1 << number) return 'number'
  if (seen === 1 << katakana) return 'katakana'
  return seen === 1 << hangul ? 'hangul' : 'word'
}
