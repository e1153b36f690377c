/** Sends requests to the server that served the page, with the token of the session. */
import { session, signOut } from './session.ts'
import { Store } from './store.ts'

/** Thrown when the server cannot be reached. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
}

/** Whether the last request reached the server. */
export const isReachable = new Store(true)

/**
 * URL of the server. The path of the URL is the part of the page's path before /console: usually
 * empty, or the prefix that a proxy adds.
 */
export const serverRoot = new URL(
  location.pathname.replace(/\/console(?:\/[^/]*)?$/, '/'),
  location.origin,
)

/**
 * Sends a request. `path` is relative to the server's address: `v1/library`,
 * `v2/databases`.
 */
export async function send(path: string, request: RequestInit = {}): Promise<Response> {
  const token = session.get()?.token
  const headers = new Headers(request.headers)
  if (token !== undefined) headers.set('Token', token)
  const response = await sendAsIs(path, { ...request, headers })
  // The token may have been revoked since the user signed in. In that case, the user has to sign in
  // again.
  if (response.status === 401 && token !== undefined && session.get()?.token === token)
    if (await isUnknownToken(response)) signOut()
  return response
}

/** Sends a request without a token. */
export async function sendAsIs(path: string, request: RequestInit): Promise<Response> {
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
    throw new ConnectionError('The server cannot be reached. Check that it is running.', {
      cause: error,
    })
  }
}

/** Whether the token is unknown or expired. A missing permission also has the status 401. */
async function isUnknownToken(response: Response): Promise<boolean> {
  const text = await response.clone().text()
  return text.includes('UNAUTHENTICATED_REQUEST') || text.includes('340018')
}
