/** Explains why a search found nothing. */
import { command } from '../api/command.ts'
import type { Place } from '../api/place.ts'
import { countMatching } from '../data/change-documents.ts'
import type { Value } from '../json/value.ts'
import { formatCount, formatMany } from '../kit/format.ts'
import type { SearchMode } from './search-ways.ts'

export interface EmptyReason {
  readonly text: string
  /** Whether documents lack a text that "Make searchable" would give them. */
  readonly isUnsearchable: boolean
}

/** The reason, as far as counts of documents tell it; undefined if documents can be found. */
export async function whyEmpty(
  place: Place,
  way: SearchMode,
  filter: Value | undefined,
  signal: AbortSignal,
): Promise<EmptyReason | undefined> {
  // The API does not count rows.
  if (place.kind === 'table') return undefined
  const { count, isMore } = await countMatching(place, filter ?? new Map(), signal)
  if (count === 0)
    return {
      text:
        filter === undefined
          ? 'There are no documents.'
          : 'No document matches the filter.',
      isUnsearchable: false,
    }
  const all = `${isMore ? 'more than ' : ''}${formatCount(count)}`
  const none = (what: string): EmptyReason => ({
    text:
      count === 1
        ? `The only document${filter === undefined ? '' : ' that matches the filter'} has no ${what}.`
        : `None of the ${all} documents${filter === undefined ? '' : ' that match the filter'} has a ${what}.`,
    isUnsearchable: true,
  })
  if (way.name === 'words') {
    const shown = await sampledTexts(place, filter, signal)
    if (shown.texts > 0) return undefined
    return shown.documents < count || isMore
      ? {
          text: `None of the first ${formatMany(shown.documents, 'document')} has a text for searches by words.`,
          isUnsearchable: true,
        }
      : none('text for searches by words')
  }
  const exists = { $vector: { $exists: true } }
  const withVector = filter === undefined ? exists : { $and: [filter, exists] }
  const { status } = await command(
    place,
    'countDocuments',
    { filter: withVector },
    { signal },
  )
  return status['count'] === 0 ? none('vector') : undefined
}

/** The first documents, and how many of them have a text for searches by words. */
async function sampledTexts(
  place: Place,
  filter: Value | undefined,
  signal: AbortSignal,
): Promise<{ readonly documents: number; readonly texts: number }> {
  const fields = {
    ...(filter === undefined ? {} : { filter }),
    projection: { $lexical: 1 },
  }
  const { documents } = await command(place, 'find', fields, { signal })
  const texts = documents.filter((document) => typeof document.get('$lexical') === 'string')
  return { documents: documents.length, texts: texts.length }
}
