/** Documents with vectors, and the requests that search for them. */
import { groupOf, shares, type Share } from './clusters.ts'

export const vectorsPath = '/v1/default_keyspace/vectors'

/** `more` is what else a document has, as the end of a JSON object's members. */
export function vectorDocument(number: number, vector: Float32Array, more = ''): string {
  const groups = shares.map((share) => `"${share.field}":${groupOf(number, share)},`)
  return `{"_id":"${idOf(number)}",${groups.join('')}"$vector":${binary(vector)}${more}}`
}

export function insertVectorsBody(documents: readonly string[]): string {
  return `{"insertMany":{"documents":[${documents.join(',')}]}}`
}

/** The ten nearest, of all or of those that match. */
export function findNearestBody(query: Float32Array, share?: Share): string {
  const filter = share === undefined ? '{}' : `{"${share.field}":0}`
  return `{"find":{"filter":${filter},"sort":{"$vector":${binary(query)}},"options":{"limit":10}}}`
}

/** As the clients send vectors: singles, most significant byte first, in Base64. */
export function binary(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4)
  for (const [i, number] of vector.entries()) bytes.writeFloatBE(number, i * 4)
  return `{"$binary":"${bytes.toString('base64')}"}`
}

/** The numbers of the vectors whose documents a text holds, in order. */
export function numbersIn(text: string): number[] {
  return Array.from(text.matchAll(/"_id":"v-(\d+)"/g), ([, number]) => Number(number))
}

function idOf(number: number): string {
  return `v-${String(number).padStart(9, '0')}`
}
