/** Replaces the zero-width non-joiner, which Persian uses between parts of a word, by a space. */
import type { CharFilter } from '../stage.ts'

export const persian: CharFilter = (text) => text.replaceAll('\u200c', ' ')
