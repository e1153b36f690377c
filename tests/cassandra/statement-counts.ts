/**
 * Counts the statements that commands take. What a server asks the cluster on its own account is
 * apart: the version of the schema, which it looks at once a second at most, whoever asks it for
 * what. Servers that are counted with must not poll settings meanwhile, which are reads as well.
 */
import type { Engine } from '../../src/engine/contract.ts'

/** Longer than anybody counts. */
export const noPollMs = 3_600_000

interface Counted {
  readonly ofCommands: number
  readonly ofSchema: number
}

export class StatementCounts {
  readonly #engine: Engine
  #before: Counted

  /** Of an engine on a cluster. */
  constructor(engine: Engine) {
    this.#engine = engine
    this.#before = this.#read()
  }

  /** What was counted since the last time. */
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
