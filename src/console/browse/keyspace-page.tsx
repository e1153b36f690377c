/** Page of a keyspace: its collections, tables and types. */
import { useEffect, useState } from 'preact/hooks'
import { goTo, routeTo } from '../navigation/route.ts'
import { SampleButton } from '../samples/sample-button.tsx'
import { Button } from '../kit/button.tsx'
import { DataTable } from '../kit/data-table.tsx'
import { formatBytes, formatCount } from '../kit/format.ts'
import { useLoad, useStore } from '../kit/hooks.ts'
import { EmptyState, Loading } from '../kit/notice.tsx'
import { command } from '../api/command.ts'
import {
  catalog,
  databaseOf,
  keyOf,
  loadKeyspaces,
  loadTargets,
  type Target,
} from '../catalog/catalog.ts'
import { AlterType } from './alter-type.tsx'
import { CreateCollection } from './create-collection.tsx'
import { CreateTable, CreateType } from './create-table.tsx'
import { DropDialog } from './drop-dialog.tsx'
import { UnlistedNotice } from './open-by-name.tsx'
import { useMay } from '../catalog/permissions.ts'

type Open =
  | 'collection'
  | 'table'
  | 'type'
  | 'drop'
  | { readonly dropped: string }
  | { readonly altered: UserType }

interface UserType {
  readonly udtName: string
  readonly definition: {
    readonly fields: Readonly<Record<string, { readonly type: string }>>
  }
}

export function KeyspacePage({
  database,
  keyspace,
}: {
  readonly database: string
  readonly keyspace: string
}) {
  const { targets } = useStore(catalog)
  const part = targets.get(keyOf(database, keyspace))
  const [open, setOpen] = useState<Open | undefined>(undefined)
  const may = useMay({ database, keyspace })
  const mayCreate = useMay({ database, keyspace, name: '*' })
  const types = useLoad(
    async (signal) => {
      const options = { options: { explain: true } }
      const { status } = await command({ database, keyspace }, 'listTypes', options, {
        signal,
      })
      return status['types'] as readonly UserType[]
    },
    [database, keyspace],
  )
  useEffect(() => {
    if (part === undefined) void loadTargets(database, keyspace)
  }, [database, keyspace])
  const close = () => setOpen(undefined)
  const here = { database, keyspace, onClose: close }
  const created = async (name: string) => {
    await loadTargets(database, keyspace)
    goTo(routeTo(database, keyspace, name, 'data'))
  }
  const listed = part?.value ?? []
  return (
    <div class="page">
      <div class="page-head">
        <nav class="crumbs" aria-label="Breadcrumbs">
          <a href={routeTo(database)}>{databaseOf(database)?.name ?? 'stela'}</a>
        </nav>
        <h1>{keyspace}</h1>
        {may('db-keyspace-drop') && (
          <Button kind="danger" onClick={() => setOpen('drop')}>
            Drop keyspace
          </Button>
        )}
        {may('db-keyspace-alter') && (
          <Button onClick={() => setOpen('type')}>Create type</Button>
        )}
        {mayCreate('db-table-create') && (
          <>
            <Button onClick={() => setOpen('table')}>Create table</Button>
            <Button kind="primary" icon="add" onClick={() => setOpen('collection')}>
              Create collection
            </Button>
          </>
        )}
      </div>
      <UnlistedNotice part={part} database={database} keyspace={keyspace} />
      {part?.value === undefined && part?.error === undefined && <Loading />}
      {part?.value?.length === 0 && (
        <EmptyState
          title={`${keyspace} is empty`}
          actions={
            mayCreate('db-table-create') ? (
              <>
                <Button kind="primary" icon="add" onClick={() => setOpen('collection')}>
                  Create collection
                </Button>
                <SampleButton database={database} keyspace={keyspace} />
              </>
            ) : undefined
          }
        >
          Collections contain schemaless documents, tables contain rows with typed columns.
          Create one, or load sample data to explore.
        </EmptyState>
      )}
      {listed.length > 0 && (
        <DataTable
          label="Collections and tables"
          rows={listed}
          keyOf={({ name }) => name}
          columns={[
            {
              title: 'Name',
              render: ({ name }) => (
                <a href={routeTo(database, keyspace, name, 'data')}>{name}</a>
              ),
            },
            { title: 'Kind', render: ({ kind }) => kind },
            { title: 'Contents', render: describe },
            {
              title: 'Documents or rows',
              isNumber: true,
              render: ({ documents }) =>
                documents === undefined ? '' : formatCount(documents),
            },
            {
              title: 'Size',
              isNumber: true,
              render: ({ bytes }) => (bytes === undefined ? '' : formatBytes(bytes)),
            },
          ]}
        />
      )}
      {listed.length > 0 && mayCreate('db-table-create') && (
        <div class="row">
          <SampleButton database={database} keyspace={keyspace} />
        </div>
      )}
      {(types.value?.length ?? 0) > 0 && (
        <>
          <h2>Types</h2>
          <DataTable
            label="Types"
            rows={types.value!}
            keyOf={({ udtName }) => udtName}
            columns={[
              { title: 'Name', render: ({ udtName }) => udtName },
              {
                title: 'Fields',
                render: ({ definition }) =>
                  Object.entries(definition.fields)
                    .map(([name, { type }]) => `${name}: ${type}`)
                    .join(', '),
              },
              {
                title: 'Actions',
                isTitleHidden: true,
                isNumber: true,
                render: (type) =>
                  may('db-keyspace-alter') && (
                    <>
                      <Button
                        icon="edit"
                        kind="quiet"
                        label={`Alter type ${type.udtName}`}
                        onClick={() => setOpen({ altered: type })}
                      />
                      <Button
                        icon="delete"
                        kind="quiet"
                        label={`Drop type ${type.udtName}`}
                        onClick={() => setOpen({ dropped: type.udtName })}
                      />
                    </>
                  ),
              },
            ]}
          />
        </>
      )}
      {open === 'collection' && <CreateCollection {...here} onDone={created} />}
      {open === 'table' && <CreateTable {...here} onDone={created} />}
      {open === 'type' && <CreateType {...here} onDone={() => types.reload()} />}
      {open === 'drop' && (
        <DropDialog
          what="the keyspace"
          name={keyspace}
          address={{ database }}
          command="dropKeyspace"
          loss="This deletes everything in it: all collections, tables and types."
          onClose={close}
          onDone={async () => {
            await loadKeyspaces(database)
            goTo(routeTo(database))
          }}
        />
      )}
      {typeof open === 'object' && 'altered' in open && (
        <AlterType
          database={database}
          keyspace={keyspace}
          name={open.altered.udtName}
          fields={Object.keys(open.altered.definition.fields)}
          onClose={close}
          onDone={() => types.reload()}
        />
      )}
      {typeof open === 'object' && 'dropped' in open && (
        <DropDialog
          what="the type"
          name={open.dropped}
          address={{ database, keyspace }}
          command="dropType"
          loss="A type that a table uses cannot be dropped."
          mustType={false}
          onClose={close}
          onDone={() => types.reload()}
        />
      )}
    </div>
  )
}

/** A short description of a collection or table, for the list. */
function describe({ kind, options, table }: Target): string {
  if (kind === 'table') {
    const count = table.columns.size
    return `${count} ${count === 1 ? 'column' : 'columns'}`
  }
  const { vector, lexical } = options
  const parts = [
    ...(vector === undefined
      ? []
      : [
          `vectors of ${vector.dimension} numbers` +
            (vector.service === undefined ? '' : ` by ${vector.service.provider}`),
        ]),
    ...(lexical?.enabled === true ? ['indexed words'] : []),
  ]
  return parts.join(', ')
}
