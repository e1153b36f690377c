/**
 * Errors that clients see. Each error is an entry of the catalog, with values for the variables of
 * the message. http/reply.ts prints errors.
 */
import { randomUUID } from 'node:crypto'
import { fixedLimits } from '../limits.ts'
import { catalog, type ErrorName, type ErrorVariables } from './catalog.ts'
import type { Value } from '../json/value.ts'

export class ApiError extends Error {
  readonly id = randomUUID()
  readonly code: string
  readonly family: 'REQUEST' | 'SERVER'
  readonly scope: string
  readonly title: string
  /** HTTP status; nearly always 200. */
  readonly status: number
  /** Ids of the documents that the error concerns, if they are known. */
  documentIds: readonly Value[] = []

  constructor(name: ErrorName, message: string) {
    super(message)
    const entry = catalog[name]
    this.name = 'ApiError'
    this.code = 'code' in entry ? entry.code : name
    this.family = entry.family
    this.scope = entry.scope
    this.title = entry.title
    this.status = 'status' in entry ? entry.status : 200
  }
}

/** Several errors of one request, so that the reply reports all violated constraints. */
export class ApiErrors extends Error {
  readonly errors: readonly ApiError[]

  constructor(errors: readonly ApiError[]) {
    super(errors.map((error) => error.message).join(' '))
    this.errors = errors
  }
}

export function apiError<Name extends ErrorName>(
  name: Name,
  ...variables: ErrorVariables<Name>
): ApiError {
  const body = catalog[name].body as (variables: unknown) => string
  const [given] = variables as readonly (object | undefined)[]
  return new ApiError(name, body(shortened(given)))
}

const { echoLengthMax } = fixedLimits

function shortened(variables: object | undefined): unknown {
  if (variables === undefined) return undefined
  return Object.fromEntries(
    Object.entries<unknown>({ ...variables }).map(([name, value]) => {
      if (typeof value === 'string') return [name, shortText(value)]
      return [name, Array.isArray(value) ? shortList(value as string[]) : value]
    }),
  )
}

function shortText(text: string): string {
  return text.length > echoLengthMax ? `${text.slice(0, echoLengthMax)}…` : text
}

/**
 * Shortens a list to the names that fit, but at least one, and appends the number of omitted names.
 */
function shortList(names: readonly string[]): readonly string[] {
  let length = 0
  const end = names.findIndex((name) => (length += name.length + 2) > echoLengthMax)
  if (end < 0) return names
  const shown = names.slice(0, Math.max(end, 1)).map(shortText)
  const left = names.length - shown.length
  return left === 0 ? shown : [...shown, `… and ${left} more`]
}
