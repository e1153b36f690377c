/** Documents with vectors, and requests that search them. */
import { groupOf, shares, type Share } from './clusters.ts'

export const vectorsPath = '/v1/default_keyspace/vectors'

/** JSON of a document with a vector. `more` is appended to the members of the object. */
export function vectorDocument(number: number, vector: Float32Array, more = ''): string {
  const groups = shares.map((share) => `"${share.field}":${groupOf(number, share)},`)
  return `{"_id":"${idOf(number)}",${groups.join('')}"$vector":${binary(vector)}${more}}`
}

export function insertVectorsBody(documents: readonly string[]): string {
  return `{"insertMany":{"documents":[${documents.join(',')}]}}`
}

/** The body of a search for the ten nearest documents, with an optional filter. */
export function findNearestBody(query: Float32Array, share?: Share): string {
  const filter = share === undefined ? '{}' : `{"${share.field}":0}`
  return `{"find":{"filter":${filter},"sort":{"$vector":${binary(query)}},"options":{"limit":10}}}`
}

/** A vector as clients send it: big-endian 32-bit floats in Base64. */
export function binary(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4)
  for (const [i, number] of vector.entries()) bytes.writeFloatBE(number, i * 4)
  return `{"$binary":"${bytes.toString('base64')}"}`
}

/** Numbers of the documents in a text, in the order of the text. */
export function numbersIn(text: string): number[] {
  return Array.from(text.matchAll(/"_id":"v-(\d+)"/g), ([, number]) => Number(number))
}

function idOf(number: number): string {
  return `v-${String(number).padStart(9, '0')}`
}
