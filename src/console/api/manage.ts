/** Client of the management API, which the server also serves on the port of the console. */
import { send } from './send.ts'

export class ManageError extends Error {
  override readonly name = 'ManageError'
  readonly httpStatus: number

  constructor(message: string, httpStatus: number) {
    super(message)
    this.httpStatus = httpStatus
  }

  /** Whether the token lacks the permission, or this port does not serve the management API. */
  get isForbidden(): boolean {
    return [401, 403, 404, 405].includes(this.httpStatus)
  }
}

/**
 * Sends a request such as `manage<Role[]>('GET', 'organizations/roles')`. Returns undefined
 * for a reply without a body.
 */
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
    // The body is not from the API: a proxy has answered.
  }
  return `The server answered with HTTP status ${response.status}.`
}
