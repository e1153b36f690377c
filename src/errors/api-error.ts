/**
 * The errors that callers see. Each is an entry of the catalog, filled with the values of
 * one case; http/reply.ts turns it into the wire object.
 */
import { randomUUID } from 'node:crypto'
import { catalog, type ErrorName, type ErrorVariables } from './catalog.ts'
import type { Value } from '../json/value.ts'

export class ApiError extends Error {
  readonly id = randomUUID()
  readonly code: string
  readonly family: 'REQUEST' | 'SERVER'
  readonly scope: string
  readonly title: string
  /** HTTP status; 200 for all but a few. */
  readonly status: number
  /** The documents that the error is about, where they are known. */
  documentIds: readonly Value[]

  constructor(name: ErrorName, message: string, documentIds: readonly Value[] = []) {
    super(message)
    const entry = catalog[name]
    this.name = 'ApiError'
    this.code = 'code' in entry ? entry.code : name
    this.family = entry.family
    this.scope = entry.scope
    this.title = entry.title
    this.status = 'status' in entry ? entry.status : 200
    this.documentIds = documentIds
  }
}

/** Several errors at once: every constraint that a request breaks is reported. */
export class ApiErrors extends Error {
  readonly errors: readonly ApiError[]

  constructor(errors: readonly ApiError[]) {
    super(errors.map((error) => error.message).join(' '))
    this.errors = errors
  }
}

export function apiError<Name extends ErrorName>(
  name: Name,
  ...[variables]: ErrorVariables<Name>
): ApiError {
  const body = catalog[name].body as (variables: unknown) => string
  return new ApiError(name, body(shortened(variables)))
}

/** Characters of what was sent that a message repeats: enough to recognise it by. */
const echoLengthMax = 1_200

function shortened(variables: object | undefined): unknown {
  if (variables === undefined) return undefined
  return Object.fromEntries(
    Object.entries<unknown>({ ...variables }).map(([name, value]) =>
      typeof value === 'string' && value.length > echoLengthMax
        ? [name, `${value.slice(0, echoLengthMax)}…`]
        : [name, value],
    ),
  )
}
