/**
 * Signs in by a link that the server printed on its terminal: /console#sign-in=<code>. The code is
 * valid once. The page removes it from the URL before it sends it.
 */
import { sendAsIs } from './send.ts'
import { signIn } from './session.ts'
import { Store } from './store.ts'

/** The progress of signing in by a link; undefined: no link was opened. */
export const linkSignIn = new Store<'busy' | Error | undefined>(undefined)

/** Reads the URL now and on every change. Call it before the router reads the URL. */
export function startLinkSignIn(): void {
  const read = () => {
    const code = /^#sign-in=([\w-]+)$/.exec(location.hash)?.[1]
    if (code === undefined) return
    history.replaceState(history.state, '', `${location.pathname}${location.search}#/`)
    void redeem(code)
  }
  addEventListener('hashchange', read)
  read()
}

async function redeem(code: string): Promise<void> {
  linkSignIn.set('busy')
  try {
    const response = await sendAsIs('console/sign-in', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ code }),
    })
    const reply = (await response.json()) as Reply
    if (reply.token === undefined)
      throw new Error(reply.errors?.[0]?.message ?? 'The sign-in link does not work.')
    // The link cannot be used again, so the token has to survive a reload of the tab.
    signIn(reply.token, true)
    linkSignIn.set(undefined)
  } catch (error) {
    linkSignIn.set(error as Error)
  }
}

interface Reply {
  readonly token?: string
  readonly errors?: readonly { readonly message: string }[]
}
