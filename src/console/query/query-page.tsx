import type { Place } from '../api/place.ts'

export function QueryPage({ place }: { readonly place: Place }) {
  return <p>{place.name}</p>
}
