/**
 * Counts the statements that commands execute. Reads of the schema version, which a server makes at
 * most once a second, are counted separately. Counted servers must not poll settings, because those
 * reads would be counted as well.
 */
import type { Engine } from '../../src/engine/contract.ts'

/** Interval between polls of settings that is longer than any test. */
export const noPollMs = 3_600_000

interface Counted {
  readonly ofCommands: number
  readonly ofSchema: number
}

export class StatementCounts {
  readonly #engine: Engine
  #before: Counted

  /** Counts statements of an engine on a cluster. */
  constructor(engine: Engine) {
    this.#engine = engine
    this.#before = this.#read()
  }

  /** Statements since the last call. */
  take(): Counted {
    const [before, now] = [this.#before, this.#read()]
    this.#before = now
    return {
      ofCommands: now.ofCommands - before.ofCommands,
      ofSchema: now.ofSchema - before.ofSchema,
    }
  }

  #read(): Counted {
    let [ofCommands, ofSchema] = [0, 0]
    for (const { purpose, count } of this.#engine.traffic!().statements)
      if (purpose === 'schema') ofSchema += count
      else ofCommands += count
    return { ofCommands, ofSchema }
  }
}
