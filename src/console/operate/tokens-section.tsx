/** Tokens: create, show the secret once, revoke. */
import { useState } from 'preact/hooks'
import { manage } from '../api/manage.ts'
import { session, signOut } from '../api/session.ts'
import { useMay } from '../catalog/permissions.ts'
import { Button } from '../kit/button.tsx'
import { CopyButton } from '../kit/copy-button.tsx'
import { DataTable } from '../kit/data-table.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { CheckField, SelectField, TextField } from '../kit/fields.tsx'
import { useAction } from '../kit/hooks.ts'
import { EmptyState, ErrorNotice, Notice } from '../kit/notice.tsx'
import { showToast } from '../kit/toasts.tsx'
import type { Token } from '../catalog/access-lists.ts'
import type { Role } from '../catalog/policies.ts'

export function TokensSection({
  tokens,
  roles,
  onChange,
}: {
  readonly tokens: readonly Token[]
  /**
   * The roles; undefined when the token of the session may not list roles. Such a token cannot
   * create tokens, either.
   */
  readonly roles: readonly Role[] | undefined
  readonly onChange: () => void
}) {
  const [isCreating, setCreating] = useState(false)
  const [revoked, setRevoked] = useState<Token | undefined>(undefined)
  const mayWrite = useMay({ database: '' })('org-token-write')
  const names = new Map(roles?.map(({ ID, Name }) => [ID, Name]))
  return (
    <section class="stack" aria-labelledby="tokens">
      <div class="row">
        <h2 id="tokens">Tokens</h2>
        {mayWrite && roles !== undefined && (
          <Button icon="add" kind="primary" class="push" onClick={() => setCreating(true)}>
            New token
          </Button>
        )}
      </div>
      {tokens.length === 0 ? (
        <EmptyState title="No tokens yet">
          The administrator token from the settings is not listed. It is valid as long as
          the settings contain it. Create tokens with fewer permissions for applications and
          people.
        </EmptyState>
      ) : (
        <DataTable
          label="Tokens"
          columns={[
            {
              title: 'Description',
              render: (token) => (
                <>
                  {token.description ?? <span class="quiet-text">no description</span>}
                  {isOwn(token) && <span class="quiet-text"> (your token)</span>}
                </>
              ),
            },
            {
              title: 'Roles',
              render: (token) => token.roles.map((id) => names.get(id) ?? id).join(', '),
            },
            { title: 'Created', render: ({ generatedOn }) => dayOf(generatedOn) },
            {
              title: 'Expires',
              render: ({ tokenExpiry }) =>
                tokenExpiry === undefined ? 'never' : expiryWords(tokenExpiry),
            },
            { title: 'Id', render: ({ clientId }) => <code>{clientId}</code> },
            {
              title: 'Revoke',
              isTitleHidden: true,
              render: (token) =>
                mayWrite && (
                  <Button
                    kind="quiet"
                    icon="delete"
                    label={`Revoke ${token.description ?? token.clientId}`}
                    onClick={() => setRevoked(token)}
                  />
                ),
            },
          ]}
          rows={tokens}
          keyOf={({ clientId }) => clientId}
        />
      )}
      {isCreating && (
        <NewToken roles={roles!} onClose={() => setCreating(false)} onCreated={onChange} />
      )}
      {revoked !== undefined && (
        <Revoke
          token={revoked}
          onClose={() => setRevoked(undefined)}
          onRevoked={onChange}
        />
      )}
    </section>
  )
}

function dayOf(moment: string): string {
  return new Date(moment).toLocaleDateString()
}

function expiryWords(moment: string): string {
  const isOver = Date.parse(moment) <= Date.now()
  return isOver ? `${dayOf(moment)}, expired` : dayOf(moment)
}

/** Whether this is the token of the session. Generated tokens contain their id. */
function isOwn({ clientId }: Token): boolean {
  return session.get()?.token.startsWith(`Stela:${clientId}:`) === true
}

const lifetimes = {
  never: undefined,
  '7 days': 7,
  '30 days': 30,
  '90 days': 90,
  '1 year': 365,
} as const

type Lifetime = keyof typeof lifetimes

function NewToken({
  roles,
  onClose,
  onCreated,
}: {
  readonly roles: readonly Role[]
  readonly onClose: () => void
  readonly onCreated: () => void
}) {
  const [description, setDescription] = useState('')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [lifetime, setLifetime] = useState<Lifetime>('90 days')
  const [made, setMade] = useState<string | undefined>(undefined)
  const create = useAction(async () => {
    const days = lifetimes[lifetime]
    const { token } = await manage<{ token: string }>('POST', 'clientIdSecrets', {
      roles: [...chosen],
      ...(description.trim() !== '' && { description: description.trim() }),
      ...(days !== undefined && {
        tokenExpiry: new Date(Date.now() + days * 86_400_000).toISOString(),
      }),
    })
    setMade(token)
    onCreated()
  })
  if (made !== undefined) return <MadeToken token={made} onClose={onClose} />
  return (
    <Dialog
      title="New token"
      onClose={onClose}
      submit={{ ...create, label: 'Create the token', isDisabled: chosen.size === 0 }}
    >
      <TextField
        label="Description"
        hint="Shown in lists to identify the token."
        value={description}
        onChange={setDescription}
        hasFocus
      />
      <SelectField<Lifetime>
        label="Valid for"
        value={lifetime}
        choices={(Object.keys(lifetimes) as Lifetime[]).map((value) => ({
          value,
          label: value === 'never' ? 'unlimited time, until it is revoked' : value,
        }))}
        onChange={setLifetime}
      />
      <fieldset>
        <legend>Roles</legend>
        {roles.map(({ ID, Name, Policy }) => (
          <CheckField
            key={ID}
            label={Name}
            hint={Policy.description}
            value={chosen.has(ID)}
            onChange={(isOn) => {
              const next = new Set(chosen)
              if (isOn) next.add(ID)
              else next.delete(ID)
              setChosen(next)
            }}
          />
        ))}
      </fieldset>
      <ErrorNotice error={create.error} />
    </Dialog>
  )
}

function MadeToken({
  token,
  onClose,
}: {
  readonly token: string
  readonly onClose: () => void
}) {
  return (
    <Dialog
      title="The new token"
      onClose={onClose}
      actions={
        <>
          <CopyButton text={token} label="Copy the token" kind="normal" />
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <Notice kind="warning">
        Copy the token now: it cannot be shown again. The server stores only a digest of it.
      </Notice>
      <output class="made-token monospaced" aria-label="The new token">
        {token}
      </output>
    </Dialog>
  )
}

function Revoke({
  token,
  onClose,
  onRevoked,
}: {
  readonly token: Token
  readonly onClose: () => void
  readonly onRevoked: () => void
}) {
  const revoke = useAction(async () => {
    await manage('DELETE', `clientIdSecrets/${encodeURIComponent(token.clientId)}`)
    if (isOwn(token)) {
      signOut()
      return
    }
    onClose()
    onRevoked()
    showToast({ text: 'Revoked the token.' })
  })
  return (
    <Dialog
      title="Revoke this token?"
      size="small"
      onClose={onClose}
      submit={{ ...revoke, label: 'Revoke', isDanger: true }}
    >
      <p>
        The server will reject all requests with the token{' '}
        {token.description ?? token.clientId}. This cannot be undone.
      </p>
      {isOwn(token) && (
        <Notice kind="warning">This is your token: you will be signed out.</Notice>
      )}
      <ErrorNotice error={revoke.error} />
    </Dialog>
  )
}
