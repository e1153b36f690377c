/** Page of a database: its keyspaces. */
import { useEffect, useState } from 'preact/hooks'
import { manage } from '../api/manage.ts'
import { goTo, routeTo } from '../navigation/route.ts'
import { Button } from '../kit/button.tsx'
import { CodeBlock } from '../kit/code-block.tsx'
import { DataTable } from '../kit/data-table.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { TextField } from '../kit/fields.tsx'
import { useAction, useStore } from '../kit/hooks.ts'
import { EmptyState, ErrorNotice, Loading } from '../kit/notice.tsx'
import { showToast } from '../kit/toasts.tsx'
import {
  catalog,
  databaseOf,
  keyOf,
  loadDatabases,
  loadKeyspaces,
  loadTargets,
} from '../catalog/catalog.ts'
import { CreateDialog } from './create-dialog.tsx'
import { UnlistedNotice } from './open-by-name.tsx'
import { useMay } from '../catalog/permissions.ts'

export function DatabasePage({ database }: { readonly database: string }) {
  const { keyspaces, targets } = useStore(catalog)
  const part = keyspaces.get(database)
  const entry = databaseOf(database)
  const [open, setOpen] = useState<'create' | 'terminate' | undefined>(undefined)
  const may = useMay({ database })
  useEffect(() => {
    if (part === undefined) void loadKeyspaces(database)
  }, [database])
  useEffect(() => {
    for (const keyspace of part?.value ?? [])
      if (!targets.has(keyOf(database, keyspace))) void loadTargets(database, keyspace)
  }, [part?.value])
  const held = (keyspace: string, kind: 'collection' | 'table') =>
    targets.get(keyOf(database, keyspace))?.value?.filter((target) => target.kind === kind)
      .length
  return (
    <div class="page">
      <div class="page-head">
        <h1>{entry?.name ?? 'Database'}</h1>
        {entry?.managedId !== undefined && !entry.isHome && may('org-db-terminate') && (
          <Button kind="danger" onClick={() => setOpen('terminate')}>
            Terminate
          </Button>
        )}
        {may('db-keyspace-create') && (
          <Button kind="primary" icon="add" onClick={() => setOpen('create')}>
            Create keyspace
          </Button>
        )}
      </div>
      <UnlistedNotice
        part={part}
        database={database}
        mayCreate={may('db-keyspace-create')}
      />
      {part?.value === undefined && part?.error === undefined && <Loading />}
      {part?.value?.length === 0 && may('db-keyspace-create') && (
        <EmptyState title="No keyspaces">
          A keyspace contains collections and tables. Create one to start.
        </EmptyState>
      )}
      {part?.value !== undefined && part.value.length > 0 && (
        <DataTable
          label="Keyspaces"
          rows={part.value}
          keyOf={(keyspace) => keyspace}
          columns={[
            {
              title: 'Keyspace',
              render: (keyspace) => <a href={routeTo(database, keyspace)}>{keyspace}</a>,
            },
            {
              title: 'Collections',
              isNumber: true,
              render: (keyspace) => held(keyspace, 'collection') ?? '',
            },
            {
              title: 'Tables',
              isNumber: true,
              render: (keyspace) => held(keyspace, 'table') ?? '',
            },
          ]}
        />
      )}
      {open === 'create' && (
        <CreateKeyspace database={database} onClose={() => setOpen(undefined)} />
      )}
      {open === 'terminate' && entry?.managedId !== undefined && (
        <TerminateDatabase
          id={entry.managedId}
          name={entry.name}
          onClose={() => setOpen(undefined)}
        />
      )}
    </div>
  )
}

function CreateKeyspace({
  database,
  onClose,
}: {
  readonly database: string
  readonly onClose: () => void
}) {
  const [name, setName] = useState('')
  return (
    <CreateDialog
      what="keyspace"
      database={database}
      command="createKeyspace"
      name={name}
      onName={setName}
      fields={() => ({ name })}
      onClose={onClose}
      onDone={async () => {
        await loadKeyspaces(database)
        goTo(routeTo(database, name))
      }}
    />
  )
}

function TerminateDatabase({
  id,
  name,
  onClose,
}: {
  readonly id: string
  readonly name: string
  readonly onClose: () => void
}) {
  const [typed, setTyped] = useState('')
  const terminate = useAction(async () => {
    await manage('POST', `databases/${id}/terminate`)
    showToast({ text: `Terminated ${name}.` })
    onClose()
    goTo('#/')
    await loadDatabases()
  })
  return (
    <Dialog
      title={`Terminate ${name}?`}
      onClose={onClose}
      submit={{
        ...terminate,
        label: `Terminate ${name}`,
        isDanger: true,
        isDisabled: typed !== name,
      }}
    >
      <ErrorNotice error={terminate.error} />
      <p>This deletes everything in the database and cannot be undone.</p>
      <TextField
        label={`Type ${name} to confirm`}
        value={typed}
        onChange={setTyped}
        hasFocus
      />
      <CodeBlock label="Request" text={`POST /v2/databases/${id}/terminate`} />
    </Dialog>
  )
}
