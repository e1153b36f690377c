/** How much one read may look at. */
export interface ReadLimits {
  /** Documents or rows, to find those that match. */
  readonly scannedMax: number
}

/** Texts that have a term: they are small, next to the records that have them. */
export function textsMaxOf({ scannedMax }: ReadLimits): number {
  return 10 * scannedMax
}
