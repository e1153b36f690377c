/** Which fields a collection or table has, by a page of what it holds. */
import { useMemo } from 'preact/hooks'
import { command } from '../api/command.ts'
import type { Place } from '../api/place.ts'
import { fieldListOf, type FieldList } from '../completion/field-paths.ts'
import { useLoad } from '../kit/hooks.ts'

/** Where the page cannot be read, clauses can still be typed. */
export function useFields(place: Place): FieldList {
  const { value } = useLoad((signal) => command(place, 'find', {}, { signal }), [place])
  return useMemo(() => fieldListOf(place, value?.documents ?? []), [place, value])
}
