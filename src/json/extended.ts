/**
 * Extended JSON: objects with one key, called wrappers, that represent values for which JSON has no
 * notation, such as {"$date": 1700000000000}.
 */
import { isObject } from './value.ts'
import type { Value } from './value.ts'

export type ExtendedWrapper = '$date' | '$uuid' | '$objectId' | '$binary'

export type Extended =
  | { readonly kind: 'date'; readonly ms: number }
  /** A UUID; `text` is in lower case. */
  | { readonly kind: 'uuid'; readonly text: string }
  /** An ObjectId; `text` is in lower case. */
  | { readonly kind: 'objectId'; readonly text: string }
  | { readonly kind: 'binary'; readonly base64: string }
  /** A wrapper with invalid content; `expected` describes the content that the wrapper requires. */
  | {
      readonly kind: 'malformed'
      readonly wrapper: ExtendedWrapper
      readonly expected: string
    }

/** The decoded value; undefined for values other than wrappers. */
export function extendedOf(value: Value): Extended | undefined {
  if (!isObject(value) || value.size !== 1) return undefined
  const [key, content] = value.entries().next().value!
  if (!key.startsWith('$')) return undefined
  switch (key) {
    case '$date':
      return dateOf(content)
    case '$uuid':
      return uuidOf(content)
    case '$objectId':
      return objectIdOf(content)
    case '$binary':
      return binaryOf(content)
    default:
      return undefined
  }
}

/** Whether the value is a wrapper, valid or malformed, rather than a plain object. */
export function isExtended(value: Value): boolean {
  return extendedOf(value) !== undefined
}

function dateOf(content: Value): Extended {
  // Adding zero turns -0 into 0.
  if (Number.isSafeInteger(content)) return { kind: 'date', ms: (content as number) + 0 }
  return malformed('$date', 'a whole number, the milliseconds since 1970-01-01T00:00:00Z')
}

const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function uuidOf(content: Value): Extended {
  if (typeof content === 'string' && uuidPattern.test(content))
    return { kind: 'uuid', text: content.toLowerCase() }
  return malformed(
    '$uuid',
    'a string of 36 characters, hexadecimal digits in groups of 8-4-4-4-12',
  )
}

const objectIdPattern = /^[0-9a-f]{24}$/i

function objectIdOf(content: Value): Extended {
  if (typeof content === 'string' && objectIdPattern.test(content))
    return { kind: 'objectId', text: content.toLowerCase() }
  return malformed('$objectId', 'a string of 24 hexadecimal digits')
}

const base64Pattern = /^[A-Za-z0-9+/]*={0,2}$/

function binaryOf(content: Value): Extended {
  // If the length is a multiple of four, the text has the correct padding when it has at most two
  // padding characters.
  if (
    typeof content === 'string' &&
    content.length % 4 === 0 &&
    base64Pattern.test(content)
  )
    return { kind: 'binary', base64: content }
  return malformed('$binary', 'a string in standard base64, padded with "="')
}

function malformed(wrapper: ExtendedWrapper, expected: string): Extended {
  return { kind: 'malformed', wrapper, expected }
}
