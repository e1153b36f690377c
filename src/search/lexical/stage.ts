/**
 * Stages of an analyzer: char filters change the text, a tokenizer splits it into tokens, and token
 * filters change the tokens. Tokens are produced lazily, when the next stage requests them. Every
 * stage counts its steps.
 */
import type { StepBudget } from '../../caller/analysis-budget.ts'
import type { Steps } from '../../runtime/steps.ts'

export interface Token {
  readonly text: string
  /**
   * Distance to the position of the previous token: usually 1; 0 for an alternative at the same
   * position; more if tokens between them were removed.
   */
  readonly step: number
  /** Whether the token is protected from stemmers. */
  readonly keyword: boolean
  /** Type of the token if the tokenizer determines it; some filters apply to one kind only. */
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

/** A stage, or the steps that create it: parsing long lists takes steps. */
export type MaybeSteps<Stage> = Stage | Steps<Stage>

/** Arguments of a component as text, by their canonical name. */
export type Arguments = ReadonlyMap<string, string>
