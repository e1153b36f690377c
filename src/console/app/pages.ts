/**
 * All pages of the console, each loaded on first use.
 *
 * A tab belongs to a collection or table, and its component takes `{ place }`. A page belongs to
 * the server, and its component has no properties. Style sheets of pages are listed in
 * styles/console.css: a style sheet that only a lazily loaded page imports would be missing.
 */
import type { ComponentType } from 'preact'
import { hasKnownKey, type Place } from '../api/place.ts'
import type { Action } from '../catalog/permissions.ts'
import { mayManageAccess } from '../catalog/access-lists.ts'

export interface TabPage {
  readonly tab: string
  readonly label: string
  /** Whether the tab applies to the place; if absent, the tab applies to every place. */
  readonly isFor?: (place: Place) => boolean
  /** To use the page, the token needs at least one of these permissions. */
  readonly needs?: readonly Action[]
  /** Whether the page requires that the token may list the collection or table. */
  readonly needsSchema?: boolean
  readonly load: () => Promise<ComponentType<{ readonly place: Place }>>
}

export interface ServerPage {
  readonly page: string
  readonly label: string
  /** Whether the token may use the page; if absent, every token may use it. */
  readonly isAllowed?: () => Promise<boolean>
  readonly load: () => Promise<ComponentType>
}

export const tabPages: readonly TabPage[] = [
  {
    tab: 'data',
    label: 'Data',
    needs: ['db-table-select', 'db-table-modify'],
    load: () => import('../data/data-page.tsx').then((module) => module.DataPage),
  },
  {
    tab: 'fields',
    label: 'Fields',
    needs: ['db-table-select'],
    load: () => import('../fields/fields-page.tsx').then((module) => module.FieldsPage),
  },
  {
    tab: 'query',
    label: 'Query',
    needs: ['db-table-select'],
    load: () => import('../query/query-page.tsx').then((module) => module.QueryPage),
  },
  {
    tab: 'search',
    label: 'Search',
    needs: ['db-table-select'],
    // The page needs the indexes of a table, which are known only together with its key.
    isFor: hasKnownKey,
    load: () => import('../search/search-page.tsx').then((module) => module.SearchPage),
  },
  {
    tab: 'map',
    label: 'Map',
    needs: ['db-table-select'],
    isFor: hasVectors,
    load: () => import('../map/map-page.tsx').then((module) => module.MapPage),
  },
  {
    tab: 'files',
    label: 'Files',
    needs: ['db-table-select', 'db-table-modify'],
    load: () => import('../files/files-page.tsx').then((module) => module.FilesPage),
  },
  {
    tab: 'settings',
    label: 'Settings',
    needs: ['db-table-describe'],
    needsSchema: true,
    load: () => import('../browse/settings-page.tsx').then((module) => module.SettingsPage),
  },
]

export const serverPages: readonly ServerPage[] = [
  {
    page: 'operate',
    label: 'Operate',
    load: () => import('../operate/operate-page.tsx').then((module) => module.OperatePage),
  },
  {
    page: 'access',
    label: 'Access',
    isAllowed: mayManageAccess,
    load: () => import('../operate/access-page.tsx').then((module) => module.AccessPage),
  },
]

function hasVectors(place: Place): boolean {
  const columns = [...place.table.columns.values()]
  return (
    place.options.vector !== undefined ||
    (hasKnownKey(place) && columns.some(({ type }) => type === 'vector'))
  )
}
