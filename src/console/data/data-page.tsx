import type { Place } from '../api/place.ts'

export function DataPage({ place }: { readonly place: Place }) {
  return <p>{place.name}</p>
}
