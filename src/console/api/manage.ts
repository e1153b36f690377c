/** Calls of the management API, which is also served where the console is. */
import { send } from './send.ts'

export class ManageError extends Error {
  override readonly name = 'ManageError'
  readonly httpStatus: number

  constructor(message: string, httpStatus: number) {
    super(message)
    this.httpStatus = httpStatus
  }

  /** The token may not, or the server does not serve it here. */
  get isForbidden(): boolean {
    return [401, 403, 404, 405].includes(this.httpStatus)
  }
}

/** `manage<Role[]>('GET', 'organizations/roles')`; what has no body answers undefined. */
export async function manage<T>(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<T> {
  const response = await send(`v2/${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
    ...(signal === undefined ? {} : { signal }),
  })
  const text = await response.text()
  if (!response.ok) throw new ManageError(messageOf(text, response), response.status)
  return (text === '' ? undefined : JSON.parse(text)) as T
}

function messageOf(text: string, response: Response): string {
  try {
    const { errors } = JSON.parse(text) as { errors?: readonly { message?: string }[] }
    if (errors?.[0]?.message !== undefined) return errors[0].message
  } catch {
    // Not from the API: a proxy answered.
  }
  return `The server answered with HTTP status ${response.status}.`
}
