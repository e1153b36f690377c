/** A workload with its own measurements, beyond requests and their rate. */
import type { Curve } from '../plot.ts'
import type { Figure } from '../run.ts'

export interface Study {
  /** Name of the study on the command line, and of its file. */
  readonly name: string
  readonly says: string
  /** Default number of documents. */
  readonly size: number
  /** Smaller sizes, for a study of growth. */
  readonly smaller?: readonly number[]
  /** Default numbers of connections, when the usual ones do not apply. */
  readonly connections?: readonly number[]
  run(settings: StudySettings): Promise<Findings>
}

export interface StudySettings {
  /** The largest size, for a study of growth. */
  readonly size: number
  /** All sizes in ascending order; a single one, unless the study measures growth. */
  readonly sizes: readonly number[]
  /**
   * Numbers of rows with vectors in ascending order, for studies where they differ from
   * `sizes`.
   */
  readonly vectors?: readonly number[] | undefined
  readonly connections: readonly number[]
  /** Seconds per measurement. */
  readonly seconds: number
  readonly seed: number
  /** An empty folder, removed at the end. */
  readonly folder: string
  /** Folder that keeps loaded data for later runs. */
  readonly keepDir?: string | undefined
  /** Folder for the server's CPU profiles. */
  readonly profileDir?: string | undefined
  readonly progress: (line: string) => void
}

export interface Findings {
  readonly tables: readonly Table[]
  readonly figures: readonly Figure[]
  readonly curve?: Curve | undefined
}

export interface Table {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}
