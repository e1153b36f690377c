/** Form of a role: its permissions and their scope. */
import { useState } from 'preact/hooks'
import { manage } from '../api/manage.ts'
import { Button } from '../kit/button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { CheckField, SelectField, TextField } from '../kit/fields.tsx'
import { useAction } from '../kit/hooks.ts'
import { ErrorNotice } from '../kit/notice.tsx'
import { showToast } from '../kit/toasts.tsx'
import { abilities, everywhere, resourceOf, scopeOf } from '../catalog/policies.ts'
import type { DatabaseName, Role, Scope } from '../catalog/policies.ts'

export function RoleForm({
  role,
  organization,
  databases,
  onClose,
  onSaved,
}: {
  /** The edited role; undefined for a new one. */
  readonly role: Role | undefined
  readonly organization: string
  readonly databases: readonly DatabaseName[]
  readonly onClose: () => void
  readonly onSaved: () => void
}) {
  const [name, setName] = useState(role?.Name ?? '')
  const [description, setDescription] = useState(role?.Policy.description ?? '')
  const [actions, setActions] = useState<ReadonlySet<string>>(
    new Set(role?.Policy.actions ?? [...abilities[0]!.actions, ...abilities[1]!.actions]),
  )
  const [scopes, setScopes] = useState<readonly Scope[]>(
    role?.Policy.resources.flatMap((each) => scopeOf(each) ?? []) ?? [everywhere],
  )
  const save = useAction(async () => {
    const body = {
      name: name.trim(),
      policy: {
        description: description.trim(),
        effect: 'allow',
        resources: [...new Set(scopes.map((scope) => resourceOf(organization, scope)))],
        actions: [...actions],
      },
    }
    if (role === undefined) await manage('POST', 'organizations/roles', body)
    else await manage('PUT', `organizations/roles/${encodeURIComponent(role.ID)}`, body)
    onClose()
    onSaved()
    showToast({ text: `Saved the role ${body.name}.` })
  })
  const changeScope = (position: number, more: Partial<Scope>) =>
    setScopes(scopes.map((each, at) => (at === position ? { ...each, ...more } : each)))
  return (
    <Dialog
      title={role === undefined ? 'New role' : `Change ${role.Name}`}
      onClose={onClose}
      submit={{
        ...save,
        label: 'Save',
        isDisabled: name.trim() === '' || actions.size === 0,
      }}
    >
      <TextField label="Name" value={name} onChange={setName} isRequired hasFocus />
      <TextField label="Description" value={description} onChange={setDescription} />
      <fieldset>
        <legend>Permissions</legend>
        {abilities.map(({ label, hint, actions: own }) => (
          <CheckField
            key={label}
            label={label}
            hint={hint}
            value={own.every((action) => actions.has(action))}
            onChange={(isOn) => {
              const next = new Set(actions)
              for (const action of own)
                if (isOn) next.add(action)
                else next.delete(action)
              setActions(next)
            }}
          />
        ))}
      </fieldset>
      <fieldset>
        <legend>Scope</legend>
        {scopes.map((scope, position) => (
          <div class="fields" key={position}>
            <SelectField
              label="Database"
              value={scope.database}
              choices={[
                { value: '', label: 'all' },
                ...databases.map(({ id, name: label }) => ({ value: id, label })),
              ]}
              onChange={(database) => changeScope(position, { database })}
            />
            <TextField
              label="Keyspace"
              placeholder="all"
              value={scope.keyspace}
              onChange={(keyspace) => changeScope(position, { keyspace })}
            />
            <TextField
              label="Collection or table"
              placeholder="all"
              value={scope.target}
              onChange={(target) => changeScope(position, { target })}
            />
          </div>
        ))}
        <div class="row">
          <Button icon="add" onClick={() => setScopes([...scopes, everywhere])}>
            Add a scope
          </Button>
          {scopes.length > 1 && (
            <Button icon="delete" onClick={() => setScopes(scopes.slice(0, -1))}>
              Remove the last scope
            </Button>
          )}
        </div>
      </fieldset>
      <ErrorNotice error={save.error} />
    </Dialog>
  )
}
