/** The default and custom roles. */
import { useState } from 'preact/hooks'
import { manage } from '../api/manage.ts'
import { useMay } from '../catalog/permissions.ts'
import { Button } from '../kit/button.tsx'
import { DataTable } from '../kit/data-table.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { useAction } from '../kit/hooks.ts'
import { ErrorNotice } from '../kit/notice.tsx'
import { showToast } from '../kit/toasts.tsx'
import {
  abilitiesOf,
  scopeWords,
  type DatabaseName,
  type Role,
} from '../catalog/policies.ts'
import { RoleForm } from './role-form.tsx'

export function RolesSection({
  roles,
  organization,
  databases,
  onChange,
}: {
  readonly roles: readonly Role[]
  readonly organization: string
  readonly databases: readonly DatabaseName[]
  readonly onChange: () => void
}) {
  /** The edited role, or `new`. */
  const [edited, setEdited] = useState<Role | 'new' | undefined>(undefined)
  const [deleted, setDeleted] = useState<Role | undefined>(undefined)
  const may = useMay({ database: '' })
  const nameOf = (id: string) => databases.find((each) => each.id === id)?.name ?? id
  const isOwn = ({ Type }: Role) => Type === 'custom'
  const inOrder = roles.toSorted((one, other) => Number(isOwn(other)) - Number(isOwn(one)))
  return (
    <section class="stack" aria-labelledby="roles">
      <div class="row">
        <h2 id="roles">Roles</h2>
        {may('org-role-write') && (
          <Button icon="add" class="push" onClick={() => setEdited('new')}>
            New role
          </Button>
        )}
      </div>
      <DataTable
        label="Roles"
        columns={[
          {
            title: 'Name',
            render: (role) => (
              <>
                <strong>{role.Name}</strong>
                <div class="quiet-text">{role.Policy.description}</div>
              </>
            ),
          },
          { title: 'Permissions', render: ({ Policy }) => mayWords(Policy.actions) },
          {
            title: 'Scope',
            render: ({ Policy }) => (
              <ul class="plain-list">
                {Policy.resources.map((resource) => (
                  <li key={resource}>{scopeWords(resource, nameOf)}</li>
                ))}
              </ul>
            ),
          },
          {
            title: 'Change',
            isTitleHidden: true,
            render: (role) =>
              isOwn(role) && (
                <span class="row-actions">
                  {may('org-role-write') && (
                    <Button
                      kind="quiet"
                      icon="edit"
                      label={`Change ${role.Name}`}
                      onClick={() => setEdited(role)}
                    />
                  )}
                  {may('org-role-delete') && (
                    <Button
                      kind="quiet"
                      icon="delete"
                      label={`Delete ${role.Name}`}
                      onClick={() => setDeleted(role)}
                    />
                  )}
                </span>
              ),
          },
        ]}
        rows={inOrder}
        keyOf={({ ID }) => ID}
      />
      {edited !== undefined && (
        <RoleForm
          role={edited === 'new' ? undefined : edited}
          organization={organization}
          databases={databases}
          onClose={() => setEdited(undefined)}
          onSaved={onChange}
        />
      )}
      {deleted !== undefined && (
        <DeleteRole
          role={deleted}
          onClose={() => setDeleted(undefined)}
          onDeleted={onChange}
        />
      )}
    </section>
  )
}

function mayWords(actions: readonly string[]): string {
  const { labels, others } = abilitiesOf(actions)
  if (labels.length === 0) return `${others} actions`
  const [first = '', ...more] = labels
  return [
    first,
    ...more.map((label) => label.charAt(0).toLowerCase() + label.slice(1)),
  ].join(', ')
}

function DeleteRole({
  role,
  onClose,
  onDeleted,
}: {
  readonly role: Role
  readonly onClose: () => void
  readonly onDeleted: () => void
}) {
  const remove = useAction(async () => {
    await manage('DELETE', `organizations/roles/${encodeURIComponent(role.ID)}`)
    onClose()
    onDeleted()
    showToast({ text: `Deleted the role ${role.Name}.` })
  })
  return (
    <Dialog
      title="Delete this role?"
      size="small"
      onClose={onClose}
      submit={{ ...remove, label: 'Delete', isDanger: true }}
    >
      <p>Tokens with the role {role.Name} lose its permissions.</p>
      <ErrorNotice error={remove.error} />
    </Dialog>
  )
}
