/** Tokens as tokenizers create them. */
import type { Token, TokenKind } from '../stage.ts'

export function newToken(text: string, kind: TokenKind = 'word', step = 1): Token {
  return { text, step, keyword: false, kind }
}

/** A token that records whether it directly follows the previous one. */
export interface AdjoiningToken extends Token {
  readonly adjoins: boolean
}

/**
 * Whether the token directly follows the previous one; false if the tokenizer does not record this.
 */
export function adjoins(token: Token): boolean {
  return token.step === 1 && 'adjoins' in token && token.adjoins === true
}
