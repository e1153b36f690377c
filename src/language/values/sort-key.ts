import type { Path } from './path.ts'

export interface SortKey {
  readonly path: Path
  readonly direction: 1 | -1
}
