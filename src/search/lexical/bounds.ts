/**
 * What one text may cost. Stages that make more of a text than there was (grams, shingles,
 * synonyms, replacements) collect what they make here, so that none can grow past a bound,
 * whatever the recipe and the text.
 *
 * The bounds are far above what an index takes of one text, so who meets them was to be
 * refused anyway.
 */
import type { Token } from './stage.ts'

/** Tokens that one stage makes of one text. */
export const tokensMax = 250_000
/** Characters of those tokens together, or of a text after a char filter. */
export const lengthMax = 16_000_000

/** Ends the analysis of a text that grew too long. Carries what there was by then. */
export class TooLong extends Error {
  readonly made: readonly string[]

  constructor(made: readonly string[]) {
    super('the text is too long to analyze')
    this.made = made
  }
}

/** A list that refuses to grow past the bounds. */
export class TokenList {
  readonly tokens: Token[] = []
  #length = 0

  add(token: Token): void {
    this.tokens.push(token)
    this.#length += token.text.length
    if (this.tokens.length > tokensMax || this.#length > lengthMax)
      throw new TooLong(this.tokens.map(({ text }) => text))
  }
}

/** A text made of pieces that refuses to grow past the bound. */
export class TextBuilder {
  #text = ''

  add(piece: string): void {
    this.#text += piece
    if (this.#text.length > lengthMax) throw new TooLong([this.#text])
  }

  toString(): string {
    return this.#text
  }
}

/** For stages that keep the number of tokens but may lengthen their texts. */
export function checkLength(tokens: readonly Token[]): readonly Token[] {
  let length = 0
  for (const token of tokens) length += token.text.length
  if (length > lengthMax || tokens.length > tokensMax)
    throw new TooLong(tokens.map(({ text }) => text))
  return tokens
}
