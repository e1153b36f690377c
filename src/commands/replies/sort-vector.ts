import { asFloats } from '../../json/floats.ts'

/** The status with the query vector, which a client that sent a text does not know. */
export function sortVectorStatus({ sortVector }: { readonly sortVector?: Float32Array }) {
  // Only vector searches have a query vector.
  const numbers = sortVector === undefined ? null : asFloats(sortVector)
  return { status: { sortVector: numbers } }
}
