/** Requests to the server that the page came from, with the token of whoever is signed in. */
import { session, signOut } from './session.ts'
import { Store } from './store.ts'

/** The server could not be reached. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
}

/** Whether the server answered when it was last asked. */
export const isReachable = new Store(true)

/** What stands before …/console: mostly nothing, or the prefix of a proxy. */
export const serverRoot = new URL(
  location.pathname.replace(/\/console(?:\/[^/]*)?$/, '/'),
  location.origin,
)

/** `path` is relative to the server's address: `v1/library`, `v2/databases`. */
export async function send(path: string, request: RequestInit = {}): Promise<Response> {
  const token = session.get()?.token
  const headers = new Headers(request.headers)
  if (token !== undefined) headers.set('Token', token)
  const response = await sendAsIs(path, { ...request, headers })
  // A token that was revoked meanwhile: whoever has the page open signs in again.
  if (response.status === 401 && token !== undefined && session.get()?.token === token)
    if (await isUnknownToken(response)) signOut()
  return response
}

async function sendAsIs(path: string, request: RequestInit): Promise<Response> {
  try {
    const response = await fetch(new URL(path, serverRoot), {
      ...request,
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
    })
    isReachable.set(true)
    return response
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    isReachable.set(false)
    throw new ConnectionError('The server does not answer. Is it running?', {
      cause: error,
    })
  }
}

/** Not one that is known, and merely may not do this. */
async function isUnknownToken(response: Response): Promise<boolean> {
  const text = await response.clone().text()
  return text.includes('UNAUTHENTICATED_REQUEST') || text.includes('340018')
}
