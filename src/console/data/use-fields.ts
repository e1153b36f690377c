/** The fields of a collection or table, from one page of its records. */
import { useMemo } from 'preact/hooks'
import { command } from '../api/command.ts'
import type { Place } from '../api/place.ts'
import { fieldListOf, type FieldList } from '../completion/field-paths.ts'
import { useLoad } from '../kit/hooks.ts'

/**
 * The fields of the collection or table. If its records cannot be read, completion proposes
 * nothing, but users can still type clauses.
 */
export function useFields(place: Place): FieldList {
  const { value } = useLoad((signal) => command(place, 'find', {}, { signal }), [place])
  return useMemo(() => fieldListOf(place, value?.documents ?? []), [place, value])
}
