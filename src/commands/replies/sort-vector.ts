import { asFloats } from '../../json/floats.ts'

/** The vector that a search compared with, for callers who did not send it as numbers. */
export function sortVectorStatus({ sortVector }: { readonly sortVector?: Float32Array }) {
  // Only searches by vector have one to tell.
  const numbers = sortVector === undefined ? null : asFloats(sortVector)
  return { status: { sortVector: numbers } }
}
