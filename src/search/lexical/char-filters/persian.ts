/** Persian joins words with a character that shows as nothing; to a search it is a space. */
import type { CharFilter } from '../stage.ts'

export const persian: CharFilter = (text) => text.replaceAll('\u200c', ' ')
