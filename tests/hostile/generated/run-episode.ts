/** Runs one episode on a server and records its effect on other clients. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Seen } from '../bystander.ts'
import type { Bystander } from '../bystander.ts'
import type { Turns } from '../turn-meter.ts'
import type { Arena } from './arena.ts'
import { clientOf, type HostileClient, type Outcome } from './clients.ts'
import type { Episode, Part } from './episode.ts'
import { settledMemory } from '../settled-memory.ts'
import { asToolCall, type HostileRequest, type RequestLoad } from './load.ts'

export interface EpisodeOptions {
  readonly seconds: number
  /** Maximum number of requests per connection. */
  readonly requestsMax: number
  readonly connectionsMax: number
}

export interface Outcomes {
  readonly counts: ReadonlyMap<Outcome, number>
  readonly requests: number
}

/** Runs an episode until its time is over or all requests were sent. */
export async function runEpisode(
  arena: Arena,
  episode: Episode,
  options: EpisodeOptions,
): Promise<Outcomes> {
  /** Aborting `end` stops the requests. Aborting `hangUp` later ends the wait for answers. */
  const end = new AbortController()
  const hangUp = new AbortController()
  const hungUp = aborted(hangUp.signal)
  const timer = setTimeout(() => end.abort(), options.seconds * 1_000)
  const counts = new Map<Outcome, number>()
  const count = (outcome: Outcome, times = 1) =>
    counts.set(outcome, (counts.get(outcome) ?? 0) + times)
  const clients: HostileClient[] = []
  const running = episode.parts.map(async (part) => {
    const connections = Math.min(part.connections, options.connectionsMax)
    if (!('requests' in part.load)) {
      const answers = await part.load.run(arena, connections, end.signal)
      for (const [status, times] of answers) count(`${status}`, times)
      return
    }
    const requests = requestsOf(part, part.load)
    await Promise.all(
      Array.from({ length: connections }, async (_, n) => {
        const client = clientOf(arena, part.transport, part.reads)
        clients.push(client)
        await sendInTurn(
          (request) => Promise.race([client.send(request), hungUp]),
          requests,
          n,
          options.requestsMax,
          end.signal,
          count,
        )
      }),
    )
  })
  const ended = Promise.all(running)
  await Promise.race([ended, aborted(end.signal)])
  if (episode.waits && episode.parts.every(({ reads }) => reads))
    await Promise.race([ended, pause(lastAnswersMs)])
  end.abort()
  hangUp.abort()
  clearTimeout(timer)
  for (const client of clients) client.close()
  await ended
  return { counts, requests: [...counts.values()].reduce((sum, times) => sum + times, 0) }
}

/** Milliseconds to wait for the last answers. */
const lastAnswersMs = 10_000

function requestsOf(
  { transport }: Part,
  { requests }: RequestLoad,
): readonly HostileRequest[] {
  if (transport !== 'MCP') return requests
  return requests.map((request) => asToolCall(request) ?? request)
}

async function sendInTurn(
  send: (request: HostileRequest) => Promise<Outcome>,
  requests: readonly HostileRequest[],
  first: number,
  requestsMax: number,
  signal: AbortSignal,
  count: (outcome: Outcome) => void,
): Promise<void> {
  for (let n = 0; n < requestsMax && !signal.aborted; n++) {
    const outcome = await send(requests[(first + n) % requests.length]!)
    count(outcome)
    // After a rejection without an answer, the client pauses before it retries, to avoid a tight
    // loop.
    if (outcome === 'none') await pause(5)
  }
}

function aborted(signal: AbortSignal): Promise<Outcome> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve('none'), { once: true })
  })
}

export interface EpisodeResult extends Outcomes {
  readonly seen: readonly Seen[]
  /** Processor time of the event-loop turns; undefined: the server died. */
  readonly turns: Turns | undefined
  /** Bytes of memory of the server at rest (settled-memory.ts). */
  readonly memory: number | undefined
  readonly isCollected: boolean
  readonly complaints: string
}

/** Runs an episode, then measures the server at rest. */
export async function measureEpisode(
  arena: Arena,
  bystander: Bystander,
  episode: Episode,
  options: EpisodeOptions,
  memoryGoal: number,
): Promise<EpisodeResult> {
  const { server } = arena
  await bystander.take()
  await turnsOf(arena)
  const said = server.complaints.length
  const outcomes = await runEpisode(arena, episode, options)
  await pause(afterMs)
  const seen = await bystander.take()
  const turns = await turnsOf(arena)
  const { bytes: memory, isCollected } = await settledMemory(server, memoryGoal)
  const complaints = server.complaints.slice(said)
  return { ...outcomes, seen, turns, memory, isCollected, complaints }
}

async function turnsOf({ server }: Arena): Promise<Turns | undefined> {
  try {
    return await server.takeTurns()
  } catch (error) {
    if (!server.isAlive) return undefined
    throw error
  }
}

/** Milliseconds after an episode in which effects still count as effects of the episode. */
const afterMs = 1_000
