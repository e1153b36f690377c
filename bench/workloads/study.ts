/** A study has its own measurements, which can differ from rates of requests. */
import type { Curve } from '../plot.ts'
import type { Figure } from '../run.ts'

export interface Study {
  /** Name of the study on the command line, and of its file in this folder. */
  readonly name: string
  readonly says: string
  /** Default number of documents. */
  readonly size: number
  /** Smaller sizes; only studies of growth have them. */
  readonly smaller?: readonly number[]
  /** Default numbers of connections, if they differ from the usual numbers. */
  readonly connections?: readonly number[]
  /** Names of parts, of which the command line may choose some. */
  readonly parts?: readonly string[]
  /** The reason why this machine cannot run the study; undefined if it can. */
  missing?(): string | undefined
  run(settings: StudySettings): Promise<Findings>
}

export interface StudySettings {
  /** Number of documents; in a study of growth, the largest number. */
  readonly size: number
  /** All sizes in ascending order. Only a study of growth has more than one. */
  readonly sizes: readonly number[]
  /** Sizes of the tables with vectors, in ascending order; undefined: the default of the study. */
  readonly vectors?: readonly number[] | undefined
  readonly connections: readonly number[]
  /** Seconds per measurement. */
  readonly seconds: number
  /** Turns of each participant, if they differ from the usual number of a study. */
  readonly rounds?: number | undefined
  /** Names of the parts to run; undefined: all. */
  readonly parts?: readonly string[] | undefined
  /** File of the server's program, if it is not the source. */
  readonly program?: string | undefined
  readonly seed: number
  /** An empty folder, which is removed at the end. */
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
