/** Tokens as tokenizers make them. */
import type { Token, TokenKind } from '../stage.ts'

export function newToken(text: string, kind: TokenKind = 'word', step = 1): Token {
  return { text, step, keyword: false, kind }
}

/** A token of which is known whether anything stands between it and the one before. */
export interface AdjoiningToken extends Token {
  readonly adjoins: boolean
}

/** Unknown counts as apart. */
export function adjoins(token: Token): boolean {
  return token.step === 1 && 'adjoins' in token && token.adjoins === true
}
