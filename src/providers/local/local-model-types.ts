import type { Entrant } from '../../caller/fair-queue.ts'

/** Models that run inside the server, without network access and keys. */
export interface LocalModels {
  /** One vector per text, in order. */
  embed(texts: readonly string[], asker: Entrant): Promise<readonly Float32Array[]>
  /** One score per passage, in order; greater is more relevant. */
  rerank(
    query: string,
    passages: readonly string[],
    asker: Entrant,
  ): Promise<readonly number[]>
  close(): Promise<void>
}
