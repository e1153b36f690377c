/**
 * Parses the fields of commands: names, JSON types and bounds.
 *
 * Fields are parsed before the target is known. Clauses such as a filter or an update are therefore
 * passed on unparsed, for the modules in src/language. An unknown field or a wrong JSON type ends
 * parsing at once. Violated bounds are collected and reported together.
 */
import { ApiErrors, apiError, type ApiError } from '../../errors/api-error.ts'
import type { JsonObject, Value } from '../../json/value.ts'
import type { Limits } from '../../limits.ts'
import { hasMoreParts } from '../../language/filters/clause-size.ts'
import { lexicalOperators, type LexicalOperator } from '../../language/sorts/sort.ts'
import {
  mismatch,
  readChoice,
  readFlag,
  readInteger,
  readNumber,
  readObject,
  readText,
  violation,
  type ValueContext,
} from '../../options/read-value.ts'

export interface Field<T> {
  /** The accepted values, for the OpenAPI description. Only `read` validates. */
  readonly takes: FieldType
  read(value: Value | undefined, at: FieldContext): T
}

export type FieldType = (
  | { readonly kind: 'anything' | 'object' | 'text' }
  | { readonly kind: 'flag'; readonly byDefault: boolean }
  | { readonly kind: 'choice'; readonly of: readonly string[]; readonly byDefault?: string }
  | { readonly kind: 'integer'; readonly min: number }
  | { readonly kind: 'number'; readonly min: number; readonly max: number }
  /** The name of a new object; new-names.ts has the rules. */
  | { readonly kind: 'name'; readonly lengthMax: (limits: Limits) => number }
  | { readonly kind: 'list'; readonly max: (limits: Limits) => number }
  | { readonly kind: 'options'; readonly fields: Fields }
) & { readonly required?: true }

export type Fields = Readonly<Record<string, Field<unknown>>>

/** Command and path of a field, for messages. */
export interface FieldContext extends ValueContext {
  readonly command: string
  readonly limits: Limits
}

/** Parses the body of a command; throws all violations. */
export function readFields(
  command: string,
  fields: Fields,
  body: JsonObject,
  limits: Limits,
): Record<string, unknown> {
  const context: FieldContext = { command, field: 'command', limits, violations: [] }
  const values = readMembers(fields, body, context, `command ${command}`)
  if (context.violations.length > 0) throw new ApiErrors(context.violations)
  return values
}

function readMembers(
  fields: Fields,
  body: JsonObject,
  context: FieldContext,
  where: string,
) {
  for (const name of body.keys())
    if (!Object.hasOwn(fields, name))
      throw apiError('COMMAND_FIELD_UNKNOWN', {
        field: name,
        where,
        known: Object.keys(fields).filter((known) => !isAlias(fields[known]!)),
      })
  const values: Record<string, unknown> = {}
  const member = new Member(context)
  for (const name in fields) {
    member.name = name
    values[name] = fields[name]!.read(body.get(name), member)
  }
  return values
}

/** Context of a member of an object. Builds the path of the member only when a message needs it. */
class Member implements FieldContext {
  readonly command: string
  readonly limits: Limits
  readonly violations: ApiError[]
  readonly #of: FieldContext
  name = ''

  constructor(of: FieldContext) {
    this.command = of.command
    this.limits = of.limits
    this.violations = of.violations
    this.#of = of
  }

  get field(): string {
    return `${this.#of.field}.${this.name}`
  }
}

/** A clause that is parsed later; absent and null are distinguished. */
export const clauseOrNull: Field<Value | undefined> = {
  takes: { kind: 'object' },
  read(value, context) {
    const max = context.limits.clausePartsMax
    if (value !== undefined && hasMoreParts(value, max))
      violation(context, value, `it has more than ${max} parts in total, the maximum`)
    return value
  },
}

/** A clause that is parsed later; null means the same as an absent clause. */
export const clause: Field<Value | undefined> = {
  takes: { kind: 'object' },
  read: (value, context) => clauseOrNull.read(value, context) ?? undefined,
}

/** A required field of any JSON type except null. */
const required: Field<Value> = {
  takes: { kind: 'object', required: true },
  read(value, context) {
    if (value === undefined || value === null) violation(context, value, 'it is required')
    return value ?? null
  },
}

/** A required update clause. Messages call it `updateClause`. */
export const requiredUpdate: Field<Value> = {
  takes: required.takes,
  read: (value, context) =>
    required.read(value, { ...context, field: `${context.field}Clause` }),
}

/** A required clause. */
export const requiredClause: Field<Value> = {
  takes: required.takes,
  read: (value, context) => required.read(clauseOrNull.read(value, context), context),
}

/** A required JSON object. */
export const requiredObject: Field<JsonObject> = {
  takes: required.takes,
  read: (value, context) => readObject(required.read(value, context), context) ?? new Map(),
}

/**
 * A required object that defines a new table, index or type. The number of its parts is limited.
 */
export const definition: Field<JsonObject> = {
  takes: required.takes,
  read: (value, context) => requiredObject.read(clauseOrNull.read(value, context), context),
}

export function flag(byDefault: boolean): Field<boolean> {
  return {
    takes: { kind: 'flag', byDefault },
    read: (value, context) => readFlag(value, context) ?? byDefault,
  }
}

export const text: Field<string | undefined> = {
  takes: { kind: 'text' },
  read: readText,
}

/** Name of a new object: any text is accepted here and checked later. */
export const newName: Field<string | undefined> = {
  ...text,
  takes: { kind: 'name', lengthMax: (limits) => limits.nameLengthMax, required: true },
}

export const requiredText: Field<string> = {
  takes: { kind: 'text', required: true },
  read(value, context) {
    const read = readText(value, context)
    if (read === undefined || read === '') violation(context, value, 'it cannot be empty')
    return read ?? ''
  },
}

/**
 * Whether documents must contain all terms of a sort by terms, or any. Undefined: the default of
 * the server.
 */
export const lexicalOperator: Field<LexicalOperator | undefined> = {
  takes: { kind: 'choice', of: lexicalOperators },
  read: (value, context) => readChoice(value, context, lexicalOperators),
}

export function oneOf<const Choice extends string>(
  choices: readonly Choice[],
  byDefault: Choice,
): Field<Choice> {
  return {
    takes: { kind: 'choice', of: choices, byDefault },
    read: (value, context) => readChoice(value, context, choices) ?? byDefault,
  }
}

export function integer(bounds: { min: number }): Field<number | undefined> {
  return {
    takes: { kind: 'integer', min: bounds.min },
    read(value, context) {
      const read = readInteger(value, context)
      if (read !== undefined && read < bounds.min)
        violation(context, read, `it must be at least ${bounds.min}`)
      return read
    },
  }
}

/** A number from 0 to 1. */
export const fraction: Field<number | undefined> = {
  takes: { kind: 'number', min: 0, max: 1 },
  read: (value, context) => readNumber(value, context, { min: 0, max: 1 }),
}

/** An array with at least one element and at most `max` elements. */
export function list(max: (limits: Limits) => number): Field<readonly Value[]> {
  return {
    takes: { kind: 'list', max, required: true },
    read(value, context) {
      if (required.read(value, context) === null) return []
      if (!Array.isArray(value)) return mismatch(context, value!, 'an Array')
      const most = max(context.limits)
      if (value.length === 0) violation(context, value, 'it must have at least one element')
      if (value.length > most)
        violation(context, value, `it has ${value.length} elements; the maximum is ${most}`)
      return value
    },
  }
}

const noMembers: JsonObject = new Map()

/** Options of a command; absent, null and {} mean defaults. */
export function options<const Shape extends Fields>(
  fields: Shape,
): Field<{
  readonly [name in keyof Shape]: Shape[name] extends Field<infer T> ? T : never
}> {
  return {
    takes: { kind: 'options', fields },
    read(value, context) {
      const members = readObject(value, context) ?? noMembers
      return readMembers(
        fields,
        members,
        context,
        `the options of ${context.command}`,
      ) as never
    },
  }
}

/** For commands without options: accepts absent, null and {}. */
export const noOptions: Field<undefined> = {
  takes: { kind: 'options', fields: {} },
  read(value, context) {
    if ((readObject(value, context)?.size ?? 0) > 0)
      throw apiError('COMMAND_ACCEPTS_NO_OPTIONS', { command: context.command })
    return undefined
  },
}

const aliases = new WeakSet<Field<unknown>>()

/** A field under a second name. Messages that list the known fields omit this name. */
export function alias<T>(field: Field<T>): Field<T> {
  const copy = { ...field }
  aliases.add(copy)
  return copy
}

export function isAlias(field: Field<unknown>): boolean {
  return aliases.has(field)
}
