/** Loads the same documents into both servers, in turns of some thousand documents. */
import { batchSize, loadConnections } from '../dataset.ts'
import { settle } from '../processes.ts'
import type { Statements } from './client.ts'
import type { Pair, Participant } from './compared.ts'
import { withId } from './documents.ts'
import type { Asked } from './requests.ts'

export interface Loaded {
  readonly documentsPerSecond: number
  /** Milliseconds of CPU time per document, including the work after the last reply. */
  readonly processorMs: number
}

/** Documents of a turn. All of them are prepared before its clock starts. */
const turnSize = 20_000

export async function loadBoth(
  size: number,
  participants: Pair,
  rounds: number,
  progress: (line: string) => void,
): Promise<Pair<Loaded>> {
  const batches = Math.ceil(size / batchSize)
  const perTurn = Math.ceil(Math.min(batches / rounds, turnSize / batchSize)) * batchSize
  const [ours, theirs] = participants.map((one) => new Loading(one)) as [Loading, Loading]
  for (let loaded = 0; loaded < size; loaded += perTurn) {
    const count = Math.min(perTurn, size - loaded)
    for (const loading of [ours, theirs]) await loading.add(count)
    progress(`loaded ${loaded + count} of ${size} documents`)
  }
  return [ours.result(), theirs.result()]
}

class Loading {
  readonly #participant: Participant
  #documents = 0
  #elapsedMs = 0
  #processorMs = 0

  constructor(participant: Participant) {
    this.#participant = participant
  }

  async add(count: number): Promise<void> {
    const { contestant, running } = this.#participant
    const batches: Buffer[] = []
    const prepared: Record<string, string> = {}
    for (let left = count; left > 0; left -= batchSize) {
      const { asked, statements } = this.#batch(Math.min(batchSize, left))
      batches.push(contestant.bytesOf(asked))
      Object.assign(prepared, statements)
    }
    const connected = await contestant.connect(running.port, loadConnections, prepared)
    try {
      const before = running.tree.processorMs() ?? NaN
      let at = 0
      const next = () => batches[at++]
      const { elapsedMs } = await connected.drive({ next, forMs: Infinity })
      await settle(running.tree.processorMs)
      this.#processorMs += (running.tree.processorMs() ?? NaN) - before
      this.#elapsedMs += elapsedMs
      this.#documents += count
    } finally {
      connected.close()
    }
  }

  /** The next documents: an insertMany, or an INSERT of several rows. */
  #batch(size: number): { readonly asked: Asked; readonly statements: Statements } {
    const { picks } = this.#participant
    const customers = Array.from({ length: size }, () => picks.newCustomer())
    const statement = `insert${size}`
    const rows = customers.map((_, i) => `($${2 * i + 1}, $${2 * i + 2})`)
    return {
      asked: {
        body: `{"insertMany":{"documents":[${customers.map(withId).join(',')}]}}`,
        statement,
        values: customers.flatMap(({ id, document }) => [id, document]),
      },
      statements: {
        [statement]: `INSERT INTO documents (id, doc) VALUES ${rows.join(', ')}`,
      },
    }
  }

  result(): Loaded {
    return {
      documentsPerSecond: (this.#documents / this.#elapsedMs) * 1000,
      processorMs: this.#processorMs / this.#documents,
    }
  }
}
