/**
 * What an analyzer is made of: char filters change the text, a tokenizer cuts it into
 * tokens, token filters change those. Tokens are made when the next stage asks for them, so
 * nothing is made that nobody needs. Whatever takes time counts its steps.
 */
import type { StepBudget } from '../../caller/analysis-budget.ts'
import type { Steps } from '../../runtime/steps.ts'

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

export type CharFilter = (text: string, steps: StepBudget) => string
export type Tokenizer = (text: string, steps: StepBudget) => Iterable<Token>
export type TokenFilter = (tokens: Iterable<Token>, steps: StepBudget) => Iterable<Token>

/** Reading long lists takes steps. */
export type Made<Stage> = Stage | Steps<Stage>

/** Texts made of a component's arguments, as they were given; names in their known case. */
export type Arguments = ReadonlyMap<string, string>
