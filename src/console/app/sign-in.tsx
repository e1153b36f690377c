/** The sign-in page. */
import { useState } from 'preact/hooks'
import { command, CommandError } from '../api/command.ts'
import { signIn } from '../api/session.ts'
import { linkSignIn } from '../api/sign-in-link.ts'
import { keepCheckedKeyspaces } from '../catalog/catalog.ts'
import { Button } from '../kit/button.tsx'
import { CheckField, TextField } from '../kit/fields.tsx'
import { useAction, useStore } from '../kit/hooks.ts'
import { ErrorNotice, Loading } from '../kit/notice.tsx'
import { Brand } from './brand.tsx'

export function SignIn() {
  const [token, setToken] = useState('')
  const [isShown, setShown] = useState(false)
  const [isKept, setKept] = useState(false)
  const { run, isBusy, error } = useAction(async () => {
    const wanted = token.trim()
    if (wanted === '') throw new Error('Type or paste a token.')
    // The token is checked first, so that an unknown token is not stored.
    await tryToken(wanted)
    signIn(wanted, isKept)
  })
  const link = useStore(linkSignIn)
  if (link === 'busy')
    return (
      <main class="sign-in">
        <Loading label="Signing in" />
      </main>
    )
  return (
    <main class="sign-in">
      <form
        class="sign-in-card"
        onSubmit={(event) => {
          event.preventDefault()
          run()
        }}
      >
        <Brand />
        <h1>Sign in</h1>
        <TextField
          label="Token"
          type={isShown ? 'text' : 'password'}
          value={token}
          onChange={setToken}
          isMonospaced
          hasFocus
          hint="The server printed a token at its first start. An administrator can create one for you."
        />
        <CheckField label="Show the token" value={isShown} onChange={setShown} />
        <CheckField
          label="Keep it for this tab"
          value={isKept}
          onChange={setKept}
          hint="The token survives a reload and is deleted when you close the tab."
        />
        <ErrorNotice error={error ?? link} />
        <Button kind="primary" isSubmit isBusy={isBusy}>
          Sign in
        </Button>
        <p class="sign-in-more">
          Commands are described in the <a href="swagger-ui">reference</a>.
        </p>
      </form>
    </main>
  )
}

async function tryToken(token: string): Promise<void> {
  try {
    const headers = { Token: token }
    const { status } = await command({ database: '' }, 'findKeyspaces', {}, { headers })
    keepCheckedKeyspaces(status['keyspaces'] as string[])
  } catch (error) {
    if (!(error instanceof CommandError) || !error.isForbidden) throw error
  }
}
