/** Options and indexes of a collection or table, and its drop button. */
import { useState } from 'preact/hooks'
import { command } from '../api/command.ts'
import type { ColumnType, Place } from '../api/place.ts'
import { goTo, routeTo } from '../navigation/route.ts'
import { Button } from '../kit/button.tsx'
import { DataTable } from '../kit/data-table.tsx'
import { useLoad } from '../kit/hooks.ts'
import { ErrorNotice } from '../kit/notice.tsx'
import { loadTargets } from '../catalog/catalog.ts'
import { CollectionSettings } from './collection-settings.tsx'
import { AddService, DropService } from './column-service.tsx'
import { AddColumns, addressOf, CreateIndex } from './create-table.tsx'
import { DropDialog } from './drop-dialog.tsx'
import { useMay, type May } from '../catalog/permissions.ts'

interface Index {
  readonly name: string
  readonly indexType: string
  readonly definition: {
    readonly column: string | Readonly<Record<string, string>>
    readonly options?: unknown
  }
}

type Open =
  | 'drop'
  | 'index'
  | 'columns'
  | { readonly index: string }
  | { readonly column: string }
  | { readonly service: string }
  | { readonly noService: string }

export function SettingsPage({ place }: { readonly place: Place }) {
  const [open, setOpen] = useState<Open | undefined>(undefined)
  const may = useMay(addressOf(place))
  const { database, keyspace, name } = place
  const isTable = place.kind === 'table'
  const close = () => setOpen(undefined)
  return (
    <div class="page">
      {isTable ? (
        <TableSettings place={place} may={may} open={open} setOpen={setOpen} />
      ) : (
        <CollectionSettings place={place} />
      )}
      {may('db-table-drop') && (
        <div class="row">
          <Button kind="danger" icon="delete" onClick={() => setOpen('drop')}>
            Drop {place.kind}
          </Button>
        </div>
      )}
      {open === 'drop' && (
        <DropDialog
          what={`the ${place.kind}`}
          name={name}
          address={{ database, keyspace }}
          command={isTable ? 'dropTable' : 'deleteCollection'}
          loss={
            `All ${isTable ? 'rows and indexes' : 'documents'} will be deleted. This ` +
            'cannot be undone.'
          }
          onClose={close}
          onDone={async () => {
            await loadTargets(database, keyspace)
            goTo(routeTo(database, keyspace))
          }}
        />
      )}
    </div>
  )
}

function TableSettings({
  place,
  may,
  open,
  setOpen,
}: {
  readonly place: Place
  readonly may: May
  readonly open: Open | undefined
  readonly setOpen: (open: Open | undefined) => void
}) {
  const { database, keyspace, table } = place
  const indexes = useLoad(
    async (signal) => {
      const options = { options: { explain: true } }
      const { status } = await command(place, 'listIndexes', options, { signal })
      return status['indexes'] as readonly Index[]
    },
    [place],
  )
  const mayAlter = may('db-table-alter')
  const close = () => setOpen(undefined)
  return (
    <>
      <div class="page-head">
        <h2 class="grow">Columns</h2>
        {mayAlter && <Button onClick={() => setOpen('columns')}>Add columns</Button>}
      </div>
      <DataTable
        label="Columns"
        rows={[...table.columns]}
        keyOf={([name]) => name}
        columns={[
          { title: 'Name', render: ([name]) => name },
          { title: 'Type', render: ([, type]) => <code>{typeText(type)}</code> },
          { title: 'Key', render: ([name]) => keyText(place, name) },
          {
            title: 'Actions',
            isTitleHidden: true,
            isNumber: true,
            render: ([name, type]) =>
              mayAlter && (
                <>
                  {type.type === 'vector' && (
                    <Button onClick={() => setOpen({ service: name })}>
                      {type.service === undefined ? 'Choose a model' : 'Change the model'}
                    </Button>
                  )}{' '}
                  {type.service !== undefined && (
                    <Button onClick={() => setOpen({ noService: name })}>
                      Remove the model
                    </Button>
                  )}
                  {keyText(place, name) === '' && (
                    <Button
                      icon="delete"
                      kind="quiet"
                      label={`Drop column ${name}`}
                      onClick={() => setOpen({ column: name })}
                    />
                  )}
                </>
              ),
          },
        ]}
      />
      <div class="page-head">
        <h2 class="grow">Indexes</h2>
        {mayAlter && <Button onClick={() => setOpen('index')}>Create index</Button>}
      </div>
      <ErrorNotice error={indexes.error} />
      {indexes.value?.length === 0 && (
        <p class="hint">
          No indexes. Rows are found by the primary key, or by scanning all rows.
        </p>
      )}
      {(indexes.value?.length ?? 0) > 0 && (
        <DataTable
          label="Indexes"
          rows={indexes.value!}
          keyOf={({ name }) => name}
          columns={[
            { title: 'Name', render: ({ name }) => name },
            { title: 'Kind', render: ({ indexType }) => indexType },
            {
              title: 'Column',
              render: ({ definition: { column } }) =>
                typeof column === 'string'
                  ? column
                  : Object.entries(column).flat().join(' '),
            },
            {
              title: 'Options',
              render: ({ definition: { options } }) => (
                <code>{options === undefined ? '' : JSON.stringify(options)}</code>
              ),
            },
            {
              title: 'Actions',
              isTitleHidden: true,
              isNumber: true,
              render: ({ name }) =>
                mayAlter && (
                  <Button
                    icon="delete"
                    kind="quiet"
                    label={`Drop index ${name}`}
                    onClick={() => setOpen({ index: name })}
                  />
                ),
            },
          ]}
        />
      )}
      {open === 'columns' && (
        <AddColumns
          place={place}
          onClose={close}
          onDone={() => loadTargets(database, keyspace)}
        />
      )}
      {open === 'index' && (
        <CreateIndex place={place} onClose={close} onDone={() => indexes.reload()} />
      )}
      {typeof open === 'object' && 'index' in open && (
        <DropDialog
          what="the index"
          name={open.index}
          address={addressOf(place)}
          command="dropIndex"
          loss="Rows are not deleted. Filters on the column become slower."
          mustType={false}
          onClose={close}
          onDone={() => indexes.reload()}
        />
      )}
      {typeof open === 'object' && 'service' in open && (
        <AddService
          place={place}
          column={open.service}
          onClose={close}
          onDone={() => loadTargets(database, keyspace)}
        />
      )}
      {typeof open === 'object' && 'noService' in open && (
        <DropService
          place={place}
          column={open.noService}
          onClose={close}
          onDone={() => loadTargets(database, keyspace)}
        />
      )}
      {typeof open === 'object' && 'column' in open && (
        <DropDialog
          what="the column"
          name={open.column}
          address={addressOf(place)}
          command="alterTable"
          fields={{ operation: { drop: { columns: [open.column] } } }}
          loss="This deletes the values of the column in all rows."
          onClose={close}
          onDone={() => loadTargets(database, keyspace)}
        />
      )}
    </>
  )
}

function keyText({ table }: Place, name: string): string {
  if (table.partitionBy.includes(name)) return 'partition'
  const order = table.partitionSort.get(name)
  if (order === undefined) return ''
  return order === 1 ? 'sort, ascending' : 'sort, descending'
}

function typeText(type: ColumnType | string): string {
  if (typeof type === 'string') return type
  switch (type.type) {
    case 'list':
    case 'set':
      return `${type.type}<${typeText(type.valueType ?? '')}>`
    case 'map':
      return `map<${typeText(type.keyType ?? '')}, ${typeText(type.valueType ?? '')}>`
    case 'vector':
      return `vector<${type.dimension ?? ''}>${type.service === undefined ? '' : ` by ${type.service.provider}`}`
    case 'userDefined':
      return type.udtName ?? 'userDefined'
    default:
      return type.type
  }
}
