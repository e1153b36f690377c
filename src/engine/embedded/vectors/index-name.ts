/**
 * Which vector index: a store may have several, distinguished by the suffix of their
 * column.
 */
export interface IndexName {
  readonly file: string
  readonly suffix: string
}

/** A text for an index; those of one store start with its file and a space. */
export function keyOf({ file, suffix }: IndexName): string {
  return `${file} ${suffix}`
}
