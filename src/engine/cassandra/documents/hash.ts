/**
 * Index form of values for equality across all types: a short form is stored as it is, a long one
 * as its digest. Other servers of the Data API use the same format.
 */
import { createHash } from 'node:crypto'
import { extendedOf } from '../../../json/extended.ts'
import { isNumeric, type JsonObject, type Value } from '../../../json/value.ts'
import { plainNumeral } from '../cql/numerals.ts'

/** Minimum length of a form that is replaced by its digest; also the length of the digest. */
const digestedLength = 22

/**
 * Whether the text can be a hash: a digest, or a form shorter than a digest. Some texts without a
 * value are accepted, because only the first letter of a form is checked.
 */
export function isPossibleHash(text: string): boolean {
  return text.length === digestedLength ? digest.test(text) : shortForm.test(text)
}

const digest = /^[A-Za-z0-9+/]*$/
const shortForm = /^[ABNOSTZ].{0,20}$/s

/** Hash of an array element or of a member of an object. */
export function hashOf(value: Value): string {
  return shorten(formOf(value))
}

/** Hash of an array, made from the hashes of its elements. */
export function hashOfArray(hashes: readonly string[]): string {
  return shorten(formOfArray(hashes))
}

/** Hash of an object without a wrapper such as $date, made from the hashes of its members. */
export function hashOfObject(members: Members): string {
  return shorten(formOfMembers(members))
}

/** Hash of the value at a path, where UUIDs and ObjectIds are hashed as their texts. */
export function hashAtPath(value: Value): string {
  const text = textOf(value)
  return text === undefined ? hashOf(value) : hashOfText(text)
}

function hashOfText(text: string): string {
  return shorten(`S${text}`)
}

/** Text in which a string, UUID or ObjectId is stored; undefined for other values. */
export function textOf(value: Value): string | undefined {
  if (typeof value === 'string') return value
  const extended = extendedOf(value)
  return extended?.kind === 'uuid' || extended?.kind === 'objectId'
    ? extended.text
    : undefined
}

function formOf(value: Value): string {
  if (value === null) return 'Z'
  if (typeof value === 'string') return `S${value}`
  if (typeof value === 'boolean') return value ? 'B1' : 'B0'
  if (isNumeric(value)) return `N${plainNumeral(value)}`
  if (Array.isArray(value)) return formOfArray(value.map(hashOf))
  return formOfObject(value)
}

function formOfObject(object: JsonObject): string {
  const extended = extendedOf(object)
  if (extended?.kind === 'date') return `T${extended.ms}`
  if (extended?.kind === 'uuid' || extended?.kind === 'objectId')
    return formOfWrapper(`$${extended.kind}`, extended.text)
  return formOfMembers(Array.from(object, ([name, member]) => [name, hashOf(member)]))
}

function formOfArray(hashes: readonly string[]): string {
  return `A${hashes.length}${hashes.map((hash) => `\n${hash}`).join('')}`
}

type Members = readonly (readonly [name: string, hash: string])[]

function formOfMembers(members: Members): string {
  return `O${members.length}${members.map(([name, hash]) => `\n${name}\n${hash}`).join('')}`
}

/** Hashes of array elements with this text, where UUIDs and ObjectIds are hashed as objects. */
export function hashesAsElements(text: string): readonly string[] {
  return ['$uuid', '$objectId'].flatMap((wrapper) => {
    const kind = extendedOf(new Map([[wrapper, text]]))?.kind
    return kind === undefined || kind === 'malformed'
      ? []
      : [shorten(formOfWrapper(wrapper, text.toLowerCase()))]
  })
}

function formOfWrapper(wrapper: string, text: string): string {
  return `O1\n${wrapper}\n${hashOfText(text)}`
}

function shorten(form: string): string {
  if (form.length < digestedLength) return form
  return createHash('md5').update(form).digest('base64').slice(0, digestedLength)
}
