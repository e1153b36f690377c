/** Routes to the current page. */
import type { ComponentType } from 'preact'
import { useEffect, useLayoutEffect, useMemo } from 'preact/hooks'
import { CommandError } from '../api/command.ts'
import type { Place } from '../api/place.ts'
import { session } from '../api/session.ts'
import { DatabasePage } from '../browse/database-page.tsx'
import {
  catalog,
  forgetCatalog,
  keyOf,
  loadDatabases,
  needKeyspaces,
  needTargets,
} from '../catalog/catalog.ts'
import { KeyspacePage } from '../browse/keyspace-page.tsx'
import { isForbidden } from '../browse/open-by-name.tsx'
import { useMay } from '../catalog/permissions.ts'
import { StartPage } from '../browse/start-page.tsx'
import { findUnlisted } from '../browse/unlisted-place.ts'
import { fileDrop } from '../navigation/dropped-file.ts'
import { Button } from '../kit/button.tsx'
import { formatBytes, formatMany } from '../kit/format.ts'
import { loadModule, useLoad, useStore } from '../kit/hooks.ts'
import { EmptyState, ErrorNotice, Loading } from '../kit/notice.tsx'
import { TabLinks } from '../kit/tabs.tsx'
import { Frame } from './frame.tsx'
import { serverPages, tabPages } from './pages.ts'
import { route, routeTo, type Route } from '../navigation/route.ts'
import { SignIn } from './sign-in.tsx'

export function App() {
  const current = useStore(session)
  // This is a layout effect, because it has to precede the effects of the pages, which load parts of
  // the catalog.
  useLayoutEffect(() => {
    forgetCatalog()
    if (current !== undefined) void loadDatabases()
  }, [current])
  if (current === undefined) return <SignIn />
  return (
    <Frame>
      <Page />
    </Frame>
  )
}

function Page() {
  const current = useStore(route)
  useEffect(() => {
    const { name, keyspace, page } = current
    const place = [name, keyspace, page].find((part) => part !== '')
    document.title = place === undefined ? 'Stela' : `${place} · Stela`
  }, [current])
  switch (current.kind) {
    case 'start':
      return <StartPage />
    case 'database':
      return <DatabasePage key={current.database} database={current.database} />
    case 'keyspace':
      return (
        <KeyspacePage
          key={keyOf(current.database, current.keyspace)}
          database={current.database}
          keyspace={current.keyspace}
        />
      )
    case 'page':
      return <ServerPageAt key={current.page} page={current.page} />
    case 'place':
      return (
        <PlacePage
          key={`${keyOf(current.database, current.keyspace)}/${current.name}`}
          current={current}
        />
      )
  }
}

function ServerPageAt({ page }: { readonly page: string }) {
  const found = serverPages.find((entry) => entry.page === page)
  if (found === undefined) return <NotFound />
  return <Lazy load={found.load} props={{}} />
}

function PlacePage({ current }: { readonly current: Route }) {
  const { database, keyspace, name } = current
  const { databases, targets } = useStore(catalog)
  const part = targets.get(keyOf(database, keyspace))
  useEffect(() => {
    needTargets(database, keyspace)
    needKeyspaces(database)
  }, [database, keyspace, part === undefined])
  const target = part?.value?.find((each) => each.name === name)
  const isUnlisted =
    target === undefined && (part?.value !== undefined || isForbidden(part?.error))
  const unlisted = useLoad(
    async (signal) =>
      isUnlisted ? findUnlisted({ database, keyspace, name }, signal) : undefined,
    [isUnlisted],
  )
  // Sizes are refreshed often. Pages get the same object until the schema changes, so that they do
  // not reload.
  const place = useMemo(
    () => target ?? unlisted.value,
    [database, keyspace, name, target?.options, target?.table, unlisted.value],
  )
  const may = useMay({ database, keyspace, name })
  if (place === undefined) {
    const error = isUnlisted ? unlisted.error : part?.error
    if (error === undefined) return <Loading />
    if (error instanceof CommandError && error.code === 'UNKNOWN_COLLECTION_OR_TABLE')
      return <NotFound />
    return (
      <div class="page">
        <ErrorNotice error={error} />
      </div>
    )
  }
  const databaseName = databases.value?.find(({ id }) => id === database)?.name ?? 'stela'
  const tabs = tabPages.filter(
    ({ isFor, needs = [], needsSchema = false }) =>
      (isFor?.(place) ?? true) &&
      (needs.length === 0 || !may.refuses(needs)) &&
      (!needsSchema || target !== undefined),
  )
  const tab = tabs.find((entry) => entry.tab === current.tab) ?? tabs[0]
  if (tab === undefined) return <NotFound />
  const facts = [
    place.kind,
    ...(target?.documents === undefined
      ? []
      : [formatMany(target.documents, target.kind === 'table' ? 'row' : 'document')]),
    ...(target?.bytes === undefined ? [] : [formatBytes(target.bytes)]),
  ]
  return (
    <div class="place" {...fileDrop({ database, keyspace, name })}>
      <div class="place-head">
        <nav class="crumbs" aria-label="Breadcrumbs">
          <a href={routeTo(database)}>{databaseName}</a>
          <a href={routeTo(database, keyspace)}>{keyspace}</a>
        </nav>
        <h1>{name}</h1>
        <span class="place-facts">{facts.join(' · ')}</span>
        {may.refuses(['db-table-modify']) && (
          <span class="badge" title="Your token may read, but not change, this data.">
            read only
          </span>
        )}
      </div>
      <TabLinks
        label="Pages"
        tabs={tabs.map((entry) => ({
          label: entry.label,
          href: routeTo(database, keyspace, name, entry.tab),
          isCurrent: entry === tab,
        }))}
      />
      <div class="place-page">
        <Lazy
          key={`${tab.tab}/${database}/${keyspace}/${name}`}
          load={tab.load}
          props={{ place }}
        />
      </div>
    </div>
  )
}

function Lazy<Props extends { readonly place?: Place }>({
  load,
  props,
}: {
  readonly load: () => Promise<ComponentType<Props>>
  readonly props: Props
}) {
  // The object around the component is necessary, because Preact would call a function that is set
  // as state.
  const { value, error, reload } = useLoad(
    async () => ({ Loaded: await loadModule(load) }),
    [load],
  )
  if (error !== undefined) return <NotLoaded onRetry={reload} />
  if (value === undefined) return <Loading />
  const { Loaded } = value
  return <Loaded {...props} />
}

/**
 * Shown when the module of a page cannot be loaded, for example because the server is
 * unreachable.
 */
function NotLoaded({ onRetry }: { readonly onRetry: () => void }) {
  return (
    <EmptyState
      title="The page could not be loaded"
      actions={
        <Button kind="primary" icon="refresh" onClick={onRetry}>
          Try again
        </Button>
      }
    >
      The server cannot be reached, or it was upgraded. Reload the console.
    </EmptyState>
  )
}

function NotFound() {
  return (
    <EmptyState title="Not found" actions={<a href="#/">All databases</a>}>
      The page, collection or table does not exist, or the token does not permit access to
      it.
    </EmptyState>
  )
}
