/**
 * The session. The token is kept in memory, and also in the tab's session storage if the user chose
 * so. It is never part of a URL.
 */
import { Store } from './store.ts'

export interface Session {
  readonly token: string
}

const storageKey = 'stela.token'

export const session = new Store<Session | undefined>(restore())

export function signIn(token: string, isKept: boolean): void {
  if (isKept) sessionStorage.setItem(storageKey, token)
  else sessionStorage.removeItem(storageKey)
  session.set({ token })
}

export function signOut(): void {
  sessionStorage.removeItem(storageKey)
  session.set(undefined)
}

function restore(): Session | undefined {
  const token = sessionStorage.getItem(storageKey)
  return token === null ? undefined : { token }
}
