/**
 * What an analyzer is made of: char filters change the text, a tokenizer cuts it into
 * tokens, token filters change those. Each stage takes all of what the one before made.
 */
export interface Token {
  readonly text: string
  /**
   * How many places it stands after the token before: 1 as a rule, 0 for another reading of
   * the same place, more where tokens between them were removed.
   */
  readonly step: number
  /** Protected: stemmers leave it as it is. */
  readonly keyword: boolean
  /** What the tokenizer saw, where it tells: some filters act on one kind only. */
  readonly kind: TokenKind
}

export type TokenKind =
  | 'word'
  | 'number'
  | 'han'
  | 'hiragana'
  | 'katakana'
  | 'hangul'
  | 'southeast-asian'
  | 'emoji'
  | 'email'
  | 'url'
  | 'acronym'
  | 'apostrophe'
  | 'synonym'
  | 'shingle'
  | 'gram'

export type CharFilter = (text: string) => string
export type Tokenizer = (text: string) => Token[]
export type TokenFilter = (tokens: readonly Token[]) => readonly Token[]

/** Texts made of a component's arguments, as they were given; names in their known case. */
export type Arguments = ReadonlyMap<string, string>
