/** Light or dark theme. The theme of the system applies unless the user chooses one. */
import { Store } from '../api/store.ts'

export type Theme = 'system' | 'light' | 'dark'

const storageKey = 'stela.theme'

export const theme = new Store<Theme>(restore())

export function applyTheme(): void {
  const apply = () => {
    const chosen = theme.get()
    if (chosen === 'system') delete document.documentElement.dataset['theme']
    else document.documentElement.dataset['theme'] = chosen
  }
  theme.watch(apply)
  apply()
}

export function chooseTheme(chosen: Theme): void {
  localStorage.setItem(storageKey, chosen)
  theme.set(chosen)
}

function restore(): Theme {
  const kept = localStorage.getItem(storageKey)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}
