/** Errors of the management API: a status, an id and a message. */
import { AccessRefusal } from '../auth/access.ts'
import { DatabaseRefusal } from '../databases/databases.ts'
import { EngineError } from '../engine/errors.ts'

/** Clients recognize a missing, invalid or expired token by this id. */
const badTokenId = 340018

/** A rejected request, with its HTTP status. */
export class Refusal extends Error {
  readonly status: number
  /** Additional headers of the reply. */
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message)
    this.status = status
    this.headers = headers
  }

  /**
   * The error as JSON. Its id is the HTTP status, except for 401: clients check for the id
   * `badTokenId`.
   */
  get body(): string {
    const id = this.status === 401 ? badTokenId : this.status
    return JSON.stringify({ errors: [{ ID: id, message: `${this.message}.` }] })
  }
}

/** Maps an error to a refusal; undefined for an internal error. */
export function refusalOf(failure: unknown): Refusal | undefined {
  if (failure instanceof Refusal) return failure
  if (failure instanceof AccessRefusal)
    return new Refusal(accessStatuses[failure.kind], failure.message)
  if (failure instanceof DatabaseRefusal)
    return new Refusal(databaseStatuses[failure.kind], failure.message)
  if (failure instanceof EngineError) return engineRefusal(failure)
  return frameworkRefusal(failure)
}

const accessStatuses: Readonly<Record<AccessRefusal['kind'], number>> = {
  bad: 400,
  forbidden: 403,
  unknown: 404,
  taken: 409,
  state: 409,
}

const databaseStatuses: Readonly<Record<DatabaseRefusal['kind'], number>> = {
  unknown: 404,
  state: 409,
  full: 422,
}

function engineRefusal({ kind, message }: EngineError): Refusal | undefined {
  switch (kind) {
    case 'closed':
      return new Refusal(503, 'The server is shutting down', { 'Retry-After': '1' })
    case 'gone':
    case 'changed':
      return new Refusal(409, `Another request changed it at the same time: ${message}`)
    case 'write':
    case 'read':
    case 'damaged':
    case 'unparseable':
    case 'schema':
    case 'schemaVersion':
      return new Refusal(500, `The database failed: ${message}`)
    case 'overloaded':
      return new Refusal(503, `The server is overloaded: ${message}`)
    case 'timeout':
      return new Refusal(504, `The database did not answer in time: ${message}`)
    case 'unavailable':
    case 'unreachable':
      return new Refusal(503, `The database cannot be reached: ${message}`)
    case 'unauthenticated':
    case 'unauthorized':
      return new Refusal(403, `The database does not permit this: ${message}`)
    case 'unsupported':
    case 'value':
    case 'indexExists':
    case 'indexLimit':
    case 'droppedColumn':
    case 'keptColumn':
    case 'unorderedSet':
      return new Refusal(422, `The database does not support this: ${message}`)
    case 'position':
      return undefined
  }
}

/** Maps errors that Fastify raises before a route runs. */
function frameworkRefusal(failure: unknown): Refusal | undefined {
  const { statusCode } = failure as { statusCode?: number }
  switch (statusCode) {
    case 413:
      return new Refusal(413, 'The body exceeds the maximum size of this path')
    case 415:
      return new Refusal(415, 'The body must be JSON: send Content-Type: application/json')
    default:
      return statusCode !== undefined && statusCode >= 400 && statusCode < 500
        ? new Refusal(statusCode, 'The request is malformed')
        : undefined
  }
}
