/**
 * Episodes of a few seconds of hostile load. An episode is determined by the seed and its number.
 */
import { Random } from '../../faults/random.ts'
import { Choices } from './choices.ts'
import type { Transport } from './clients.ts'
import * as documents from './document-loads.ts'
import * as edge from './edge-loads.ts'
import type { Load } from './load.ts'
import * as rows from './row-loads.ts'
import * as schemas from './schema-loads.ts'

/** Loads that run at the same time. */
export interface Episode {
  readonly number: number
  readonly parts: readonly Part[]
  /** Whether clients wait for the last answers, or disconnect. */
  readonly waits: boolean
}

export interface Part {
  readonly load: Load
  readonly transport: Transport
  readonly connections: number
  readonly reads: boolean
}

/** Number of consecutive episodes that share a server. Every other server uses HTTPS. */
export const episodesPerServer = 8

export function isTlsEpisode(number: number): boolean {
  return Math.floor(number / episodesPerServer) % 2 === 1
}

type MakeLoad = (choices: Choices) => Load

/** Functions that make a load. A function that is listed twice is chosen twice as often. */
const loads: readonly MakeLoad[] = [
  documents.documentFilters,
  documents.documentFilters,
  documents.documentFilters,
  documents.documentSorts,
  documents.documentProjections,
  documents.documentUpdates,
  documents.documentUpdates,
  documents.documentInserts,
  documents.documentInserts,
  documents.oddBodies,
  documents.searches,
  documents.searches,
  documents.pageStates,
  rows.rowFilters,
  rows.rowFilters,
  rows.rowSorts,
  rows.rowWrites,
  schemas.analyzers,
  schemas.schemas,
  schemas.schemas,
  edge.pages,
  edge.badTokens,
  edge.messages,
  edge.churn,
  edge.unfinishedBodies,
  edge.pipelines,
]

const tlsLoads: readonly MakeLoad[] = [...loads, edge.rapidResets]

export function makeEpisode(seed: number, number: number): Episode {
  const start = Math.imul(seed, 0x85ebca6b) ^ Math.imul(number + 1, 0xc2b2ae35)
  const random = new Random(start)
  const choices = new Choices(random)
  const isTls = isTlsEpisode(number)
  const part = (): Part => {
    // The load has a separate random stream, so that a new kind of load does not change the other
    // choices of the episode.
    const load = choices.pick(isTls ? tlsLoads : loads)(new Choices(random.fork()))
    return {
      load,
      transport: choices.pick(
        isTls
          ? (['HTTP/2', 'HTTP/2', 'HTTP/1.1', 'MCP'] as const)
          : (['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'MCP'] as const),
      ),
      connections: choices.oneIn(20) ? 700 : choices.pick([1, 2, 4, 8, 16, 32, 64]),
      reads: !choices.oneIn(8),
    }
  }
  const parts = Array.from({ length: choices.pick([1, 1, 2]) }, part)
  return { number, parts, waits: !choices.oneIn(3) }
}

/** A description of an episode in one line. */
export function describeEpisode({ parts, waits }: Episode): string {
  const texts = parts.map(({ load, transport, connections, reads }) => {
    const how =
      'requests' in load
        ? `${transport}, ${connections} connections`
        : `${connections} connections`
    return `${load.says}; ${how}${reads ? '' : ', replies unread'}`
  })
  return `${texts.join(' + ')}${waits ? '' : '; disconnects before the last replies'}`
}
