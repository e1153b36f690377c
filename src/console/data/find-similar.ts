/** Searches for the nearest neighbours of a document, as a query of the Data tab. */
import { command } from '../api/command.ts'
import type { Place } from '../api/place.ts'
import type { Store } from '../api/store.ts'
import type { JsonObject } from '../json/value.ts'
import { messageOf } from '../kit/notice.tsx'
import { showToast } from '../kit/toasts.tsx'
import { withoutChoice, type DataQuery } from './data-query.ts'
import { idFilter, idText, noun } from './document-id.ts'

/** The field that contains the vector of a document; undefined if there is no such field. */
export function vectorFieldOf(place: Place): string | undefined {
  if (place.kind === 'collection')
    return place.options.vector === undefined ? undefined : '$vector'
  return [...place.table.columns].find(([, { type }]) => type === 'vector')?.[0]
}

export async function findSimilar(
  place: Place,
  document: JsonObject,
  store: Store<DataQuery>,
): Promise<void> {
  const field = vectorFieldOf(place)!
  try {
    const reply = await command(place, 'findOne', {
      filter: idFilter(place, document),
      projection: { [field]: 1 },
    })
    const vector = reply.documents[0]?.get(field)
    if (vector === undefined || vector === null)
      throw new Error(`This ${noun(place, 1)} has no vector to compare with.`)
    const similarTo = { name: idText(place, document), field, vector }
    store.update((before) => ({ ...withoutChoice(before), similarTo, sort: new Map() }))
  } catch (error) {
    showToast({ text: messageOf(error), kind: 'error' })
  }
}
