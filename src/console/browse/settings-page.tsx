import type { Place } from '../api/place.ts'

export function SettingsPage({ place }: { readonly place: Place }) {
  return <p>{place.name}</p>
}
