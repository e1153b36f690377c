/** The start page: all databases. */
import { useState } from 'preact/hooks'
import { manage } from '../api/manage.ts'
import { goTo, routeTo } from '../navigation/route.ts'
import { Button } from '../kit/button.tsx'
import { CodeBlock } from '../kit/code-block.tsx'
import { DataTable } from '../kit/data-table.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { SelectField, TextField } from '../kit/fields.tsx'
import { useAction, useStore } from '../kit/hooks.ts'
import { EmptyState, ErrorNotice, Loading, Notice } from '../kit/notice.tsx'
import { showToast } from '../kit/toasts.tsx'
import { SampleButton } from '../samples/sample-button.tsx'
import { catalog, keyOf, loadDatabases } from '../catalog/catalog.ts'
import { UnlistedNotice } from './open-by-name.tsx'
import { useMay } from '../catalog/permissions.ts'

export function StartPage() {
  const { databases, keyspaces, targets, management } = useStore(catalog)
  const [isCreating, setCreating] = useState(false)
  const may = useMay({ database: '' })
  const [first = ''] = keyspaces.get('')?.value ?? []
  const mayCreate = useMay({ database: '', keyspace: first, name: '*' })
  const isFresh =
    first !== '' &&
    databases.value?.length === 1 &&
    keyspaces
      .get('')!
      .value!.every((name) => targets.get(keyOf('', name))?.value?.length === 0)
  return (
    <div class="page">
      <div class="page-head">
        <h1>Databases</h1>
        {management === 'here' && may('org-db-create') && (
          <Button kind="primary" icon="add" onClick={() => setCreating(true)}>
            Create database
          </Button>
        )}
      </div>
      <ErrorNotice error={databases.error} />
      {management === 'absent' && (
        <Notice title="The management API is off.">
          The server was started with --admin-port off, so the console does not know what
          the token may do. It offers everything, and shows an error if the server rejects
          an action. Other databases, sizes, tokens and roles are not shown.
        </Notice>
      )}
      {databases.value === undefined && databases.error === undefined && <Loading />}
      {databases.value !== undefined && (
        <DataTable
          label="Databases"
          rows={databases.value}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Name',
              render: ({ id, name }) => <a href={routeTo(id)}>{name}</a>,
            },
            {
              title: 'Kind',
              render: ({ isHome }) =>
                isHome ? 'home database, at the path /v1' : 'additional database',
            },
            {
              title: 'Id',
              render: ({ managedId }) => <code class="quiet-text">{managedId ?? ''}</code>,
            },
          ]}
        />
      )}
      {databases.value?.length === 1 && (
        <UnlistedNotice
          part={keyspaces.get(databases.value[0]!.id)}
          database={databases.value[0]!.id}
          mayCreate={may('db-keyspace-create')}
        />
      )}
      {isFresh && (
        <EmptyState
          title="No data yet"
          actions={
            mayCreate('db-table-create') ? (
              <>
                <SampleButton kind="primary" database="" keyspace={first} />
                <a href={routeTo('', first)}>Create a collection</a>
              </>
            ) : undefined
          }
        >
          Load sample data to try the console, or create a collection.
        </EmptyState>
      )}
      {isCreating && <CreateDatabase onClose={() => setCreating(false)} />}
    </div>
  )
}

function CreateDatabase({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('')
  const [keyspace, setKeyspace] = useState('')
  const [cloudProvider, setCloudProvider] = useState('')
  const [region, setRegion] = useState('')
  const body = {
    name,
    ...(keyspace === '' ? {} : { keyspace }),
    ...(cloudProvider === '' ? {} : { cloudProvider }),
    ...(region === '' ? {} : { region }),
  }
  const create = useAction(async () => {
    const { id } = await manage<{ id: string }>('POST', 'databases', body)
    await loadDatabases()
    showToast({ text: `Created ${name}.` })
    onClose()
    goTo(routeTo(id))
  })
  return (
    <Dialog
      title="Create a database"
      onClose={onClose}
      submit={{ ...create, label: 'Create database', isDisabled: name === '' }}
    >
      <ErrorNotice error={create.error} />
      <TextField label="Name" value={name} onChange={setName} hasFocus isRequired />
      <TextField
        label="First keyspace"
        value={keyspace}
        onChange={setKeyspace}
        placeholder="default_keyspace"
      />
      <div class="fields">
        <SelectField
          label="Cloud provider"
          value={cloudProvider}
          onChange={setCloudProvider}
          choices={[
            { value: '', label: 'AWS (default)' },
            ...['AWS', 'GCP', 'AZURE'].map((value) => ({ value })),
          ]}
        />
        <TextField label="Region" value={region} onChange={setRegion} placeholder="local" />
      </div>
      <p class="hint">
        Clients for cloud databases expect a provider and a region. The server only reports
        them. It stores all data itself.
      </p>
      <CodeBlock label="POST /v2/databases" text={JSON.stringify(body, undefined, 2)} />
    </Dialog>
  )
}
