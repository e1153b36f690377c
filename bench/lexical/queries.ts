/** Query sets, from one very rare word to six very common ones. */
import { vocabularySize, type Texts } from '../texts.ts'

export interface QueryKind {
  readonly says: string
  /** Picks the words of a query. `text` is one of the stored texts. */
  readonly pick: (texts: Texts, text: string) => readonly string[]
}

/** Ranges of word ranks, with the share of texts that contain a word with a rank in the range. */
const rare = [vocabularySize / 5, vocabularySize] as const // 0.01 % to 0.05 %
const medium = [300, 1000] as const // 0.5 % to 2 %
const common = [30, 100] as const // 5 % to 16 %
const everywhere = [1, 10] as const // 40 % to all

/** Queries per set. */
export const queryCount = 256

export const queryKinds: readonly QueryKind[] = [
  { says: '1 rare', pick: words(1, rare) },
  { says: '1 medium', pick: words(1, medium) },
  { says: '1 common', pick: words(1, common) },
  { says: '1 very common', pick: words(1, everywhere) },
  {
    says: '1 rare, 1 very common',
    pick: (texts) => [...words(1, rare)(texts), ...words(1, everywhere)(texts)],
  },
  { says: '2 common', pick: words(2, common) },
  { says: '3 very common', pick: words(3, everywhere) },
  { says: '6 very common', pick: words(6, everywhere) },
  { says: '6 words of one text', pick: (texts, text) => texts.wordsOf(text, 6) },
]

/** Returns a function that picks `count` distinct words with ranks in the range. */
function words(count: number, [from, to]: readonly [number, number]) {
  return (texts: Texts): string[] => {
    const chosen = new Set<string>()
    while (chosen.size < count) chosen.add(texts.wordBetween(from, to))
    return [...chosen]
  }
}
