/** Sizes of the collections and tables of all databases that the token may see. */
import { useState } from 'preact/hooks'
import { listDatabases } from '../api/databases.ts'
import { manage, ManageError } from '../api/manage.ts'
import { routeTo } from '../navigation/route.ts'
import { Button } from '../kit/button.tsx'
import { formatBytes, formatCount } from '../kit/format.ts'
import { useLoad } from '../kit/hooks.ts'
import { Icon } from '../kit/icons.tsx'
import { EmptyState, Loading, messageOf, Notice } from '../kit/notice.tsx'
import { sortSizes, type SizeColumn, type SizeRow } from './sort-sizes.ts'

async function loadSizes(): Promise<readonly SizeRow[]> {
  const databases = await listDatabases()
  if (databases.length === 0) throw new Error('This token may not list databases.')
  const lists = await Promise.all(
    databases.map(async ({ id, managedId, name }) => {
      const path = `databases/${encodeURIComponent(managedId)}/sizes`
      const { collections } = await manage<{
        readonly collections: readonly Omit<SizeRow, 'database' | 'databaseName'>[]
      }>('GET', path)
      return collections.map((each) => ({ ...each, database: id, databaseName: name }))
    }),
  )
  return lists.flat()
}

const titles: readonly (readonly [SizeColumn, string])[] = [
  ['name', 'Name'],
  ['keyspace', 'Keyspace'],
  ['databaseName', 'Database'],
  ['kind', 'Kind'],
  ['documents', 'Documents'],
  ['bytes', 'On disk'],
  ['vectors', 'Vectors'],
  ['vectorMemory', 'Index in memory'],
]

const numbers: readonly SizeColumn[] = ['documents', 'bytes', 'vectors', 'vectorMemory']

export function SizesTable() {
  const { value, error, isLoading, reload } = useLoad(loadSizes, [])
  const [order, setOrder] = useState<readonly [SizeColumn, 1 | -1]>(['bytes', -1])
  return (
    <section class="stack long-list" aria-labelledby="sizes">
      <div class="row">
        <h2 id="sizes">Sizes</h2>
        <Button icon="refresh" kind="quiet" isBusy={isLoading} onClick={reload}>
          Refresh
        </Button>
      </div>
      {error !== undefined && <Notice>{reasonOf(error)}</Notice>}
      {value === undefined && error === undefined && <Loading />}
      {value?.length === 0 && (
        <EmptyState title="No collections yet" actions={<a href="#/">Create one</a>} />
      )}
      {value !== undefined && value.length > 0 && (
        <div class="table-frame" tabIndex={0} role="region" aria-label="Sizes">
          <table class="data-table">
            <thead>
              <tr>
                {titles.map(([column, title]) => (
                  <SortableTitle
                    key={column}
                    title={title}
                    isNumber={numbers.includes(column)}
                    direction={order[0] === column ? order[1] : undefined}
                    onSort={(direction) => setOrder([column, direction])}
                  />
                ))}
              </tr>
            </thead>
            <tbody>
              {sortSizes(value, ...order).map((row) => (
                <SizeLine key={`${row.database}/${row.keyspace}/${row.name}`} row={row} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

function reasonOf(error: unknown): string {
  const isUnserved = error instanceof ManageError && error.httpStatus === 404
  return isUnserved
    ? 'Sizes require the management API, but this server was started with --admin-port off.'
    : messageOf(error)
}

function SortableTitle({
  title,
  isNumber,
  direction,
  onSort,
}: {
  readonly title: string
  readonly isNumber: boolean
  readonly direction: 1 | -1 | undefined
  readonly onSort: (direction: 1 | -1) => void
}) {
  // The first click sorts numbers in descending and names in ascending order.
  const first = isNumber ? -1 : 1
  const next = direction === undefined ? first : direction === 1 ? -1 : 1
  return (
    <th
      scope="col"
      class={isNumber ? 'number' : undefined}
      aria-sort={direction && (direction === 1 ? 'ascending' : 'descending')}
    >
      <button type="button" class="sort-title" onClick={() => onSort(next)}>
        {title}
        <span class={`sort-mark ${direction === 1 ? 'up' : ''}`}>
          {direction !== undefined && <Icon name="down" />}
        </span>
      </button>
    </th>
  )
}

function SizeLine({ row }: { readonly row: SizeRow }) {
  const { database, databaseName, keyspace, name, kind, documents, bytes, vectors } = row
  return (
    <tr>
      <td class="size-name">
        <a href={routeTo(database, keyspace, name, 'data')}>{name}</a>
      </td>
      <td>{keyspace}</td>
      <td>{databaseName}</td>
      <td>{kind}</td>
      <td class="number">{documents === undefined ? '' : formatCount(documents)}</td>
      <td class="number">{bytes === undefined ? '' : formatBytes(bytes)}</td>
      <td class="number">{vectors === undefined ? '' : formatCount(vectors.count)}</td>
      <td class="number">
        {vectors === undefined ? '' : formatBytes(vectors.memoryBytes)}
      </td>
    </tr>
  )
}
