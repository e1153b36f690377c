/**
 * Identifies a vector index: a store may have several indexes, distinguished by the suffix of their
 * column.
 */
export interface IndexName {
  readonly file: string
  readonly suffix: string
}

/** Key of an index. The keys of one store start with its file and a space. */
export function keyOf({ file, suffix }: IndexName): string {
  return `${file} ${suffix}`
}
