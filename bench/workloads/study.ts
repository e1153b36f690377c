/** A workload that is more than requests and their rate: it says itself how it is measured. */
import type { Curve } from '../plot.ts'
import type { Figure } from '../run.ts'

export interface Study {
  /** As on the command line; also the name of the file. */
  readonly name: string
  readonly says: string
  /** Documents, where none are asked for. */
  readonly size: number
  /** Smaller sizes to be measured beside it, by a study that looks at growth. */
  readonly smaller?: readonly number[]
  /** Connections, where none are asked for and the usual ones would not do. */
  readonly connections?: readonly number[]
  run(settings: StudySettings): Promise<Findings>
}

export interface StudySettings {
  /** The largest of them, for a study that looks at growth. */
  readonly size: number
  /** All sizes, smallest first: one, unless the study looks at growth. */
  readonly sizes: readonly number[]
  /** Rows with vectors, where a study has them apart; smallest first. */
  readonly vectors?: readonly number[] | undefined
  readonly connections: readonly number[]
  /** How long each thing is measured. */
  readonly seconds: number
  readonly seed: number
  /** Empty, and removed in the end. */
  readonly folder: string
  /** Where loaded data is kept for the next run. */
  readonly keepDir?: string | undefined
  /** Where the server leaves CPU profiles. */
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
