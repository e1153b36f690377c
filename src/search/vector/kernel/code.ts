/** Codes of vectors, of the width that the index has. */
import { byteDistance, byteDistance4, encodeBytes, squaredLength } from './byte-code'
import { bits, input, node } from './layout'
import {
  encodeShort, expandShort, prepareShort, shortDistance, shortDistance4, shortLength,
} from './short-code'

/** Encodes the input. */
export function encode(to: usize): void {
  if (bits == 8) encodeBytes(input, to)
  else encodeShort(to)
}

/** Makes a query of the input. */
export function prepareQuery(to: usize): void {
  if (bits == 8) encodeBytes(input, to)
  else prepareShort(to)
}

/** A query for the neighbours of a node. It may use the memory at `to`. */
export function queryOf(id: u32, to: usize): usize {
  if (bits == 8) return node(id)
  expandShort(node(id), to)
  return to
}

/** Distance of a query and a code; smaller is closer. */
export function distance(query: usize, code: usize): f32 {
  return bits == 8 ? byteDistance(query, code) : shortDistance(query, code)
}

/** Writes the distances from a query to four nodes to `to`. */
export function distance4(query: usize, a: u32, b: u32, c: u32, d: u32, to: usize): void {
  if (bits == 8) byteDistance4(query, a, b, c, d, to)
  else shortDistance4(query, a, b, c, d, to)
}

export function squaredLengthOf(id: u32): f64 {
  return bits == 8 ? squaredLength(node(id)) : shortLength(node(id))
}
