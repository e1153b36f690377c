/**
 * A run of the fuzzer: sends batches of concurrent inputs and checks the server after each batch.
 * An input that causes a finding is sent again alone, minimized, and saved.
 */
import type { CommandInput, Input } from './input.ts'
import { Inputs } from './inputs.ts'
import { minimize } from './minimize.ts'
import type { Finding } from './oracle.ts'
import { died, Prober } from './prober.ts'
import { NoAnswer } from './wire.ts'
import { World } from './world.ts'

export interface Settings {
  readonly seed: number
  readonly corpus: readonly CommandInput[]
  /** Called between batches. */
  isOver(requests: number): boolean
  /** Called with progress and with every finding. */
  tell(text: string): void
}

/** A finding with the smallest input that causes it. */
export interface Found extends Finding {
  readonly input: Input
  /** Whether the input alone causes the finding on a server with its initial data. */
  readonly isAlone: boolean
}

export interface Report {
  readonly requests: number
  readonly byKind: ReadonlyMap<string, number>
  readonly statuses: ReadonlyMap<number | 'none', number>
  readonly codes: ReadonlySet<string>
  readonly findings: readonly Found[]
  /** Resident memory in bytes: before the first batch, the maximum, and after the last batch. */
  readonly memory: {
    readonly before: number
    readonly most: number
    readonly after: number
  }
}

const batchSize = 250
const atATime = 8

/** Number of batches after which the data that inputs have created is removed. */
const batchesPerTidying = 8

/** Resident memory in bytes above which a leak is assumed. */
const memoryMax = 3 * 2 ** 30

/**
 * Maximum number of suspected inputs per kind of finding: each input that was in flight when a
 * server died may be the cause.
 */
const suspectsMax = 2 * atATime

/** Maximum number of findings of a run. Further findings rarely add information. */
const findingsMax = 20

export async function fuzz(settings: Settings): Promise<Report> {
  const world = await World.start()
  const run = new Run(world, settings)
  try {
    await run.run()
  } finally {
    run.prober.close()
  }
  const wrong = await world.stop()
  if (wrong !== undefined) run.noteAside({ kind: 'the end', detail: wrong })
  return run.report
}

class Run {
  readonly prober: Prober
  readonly #world: World
  readonly #settings: Settings
  readonly #inputs: Inputs
  readonly #byKind = new Map<string, number>()
  readonly #found = new Map<string, Found>()
  /** Number of suspected inputs that were sent again, by kind of finding. */
  readonly #examined = new Map<string, number>()
  readonly #memory: { before: number; most: number; after: number }
  #requests = 0

  constructor(world: World, settings: Settings) {
    this.#world = world
    this.#settings = settings
    this.prober = new Prober(world)
    this.#inputs = new Inputs(settings.seed, this.prober.pageStates, settings.corpus)
    const { memory } = world
    this.#memory = { before: memory, most: memory, after: memory }
  }

  get report(): Report {
    const { statuses, codes } = this.prober
    return {
      requests: this.#requests,
      byKind: this.#byKind,
      statuses,
      codes,
      findings: [...this.#found.values()],
      memory: this.#memory,
    }
  }

  async run(): Promise<void> {
    for (let batch = 1; !this.#settings.isOver(this.#requests); batch++) {
      await this.#runBatch()
      try {
        await this.#lookAround()
        if (batch % batchesPerTidying === 0) await this.#world.tidy()
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error
        const hasDied = await this.#world.hasDied()
        this.noteAside(hasDied ? died : { kind: 'control', detail: error.message })
        if (hasDied) await this.#world.revive()
      }
      if (this.#found.size >= findingsMax) break
    }
  }

  async #runBatch(): Promise<void> {
    const sent = new Map<string, Input>()
    const suspects: [Input, Finding][] = []
    const work = async (worker: number) => {
      for (let n = worker; n < batchSize && this.#world.isAlive; n += atATime) {
        const input = this.#inputs.next()
        const requestId = `fuzz-${++this.#requests}`
        sent.set(requestId, input)
        this.#byKind.set(input.from, (this.#byKind.get(input.from) ?? 0) + 1)
        const finding = await this.prober.probe(input, requestId)
        if (finding !== undefined) suspects.push([input, finding])
      }
    }
    await Promise.all(Array.from({ length: atATime }, (_, worker) => work(worker)))
    suspects.push(...complaintsOf(this.#world.complaints(), sent))
    for (const [input, finding] of suspects) await this.#examine(input, finding)
    if (!this.#world.isAlive) await this.#world.revive()
  }

  async #lookAround(): Promise<void> {
    const { memory } = this.#world
    this.#memory.most = Math.max(this.#memory.most, memory)
    this.#memory.after = memory
    if (memory > memoryMax) this.noteAside({ kind: 'memory', detail: `${memory} bytes` })
    const wrong = await this.#world.control()
    if (wrong !== undefined) this.noteAside({ kind: 'control', detail: wrong })
  }

  /**
   * Sends a suspected input alone, and minimizes it. Once an input has reproduced a kind of
   * finding, no further input is examined for that kind.
   */
  async #examine(input: Input, finding: Finding): Promise<void> {
    const { kind } = finding
    const examined = this.#examined.get(kind) ?? 0
    if (this.#found.get(kind)?.isAlone === true || examined >= suspectsMax) return
    this.#examined.set(kind, examined + 1)
    if (examined === 0) this.#settings.tell(`found: ${kind}: ${finding.detail}`)
    const shows = async (candidate: Input) => {
      if (!this.#world.isAlive) await this.#world.revive()
      const again = await this.prober.probe(candidate, 'again')
      const complaints = complaintsOf(this.#world.complaints(), new Map())
      return [again, ...complaints.map(([, complaint]) => complaint)].some(
        (found) => found?.kind === kind,
      )
    }
    const smaller = (await shows(input))
      ? await minimize(input, shows, triesFor(input, finding))
      : input
    if (!this.#world.isAlive) await this.#world.revive()
    await this.#world.tidy()
    const isAlone = await shows(smaller)
    this.#found.set(kind, { ...finding, input: smaller, isAlone })
  }

  /** Records a finding that no single input reproduces. */
  noteAside(finding: Finding): void {
    if (this.#found.has(finding.kind)) return
    this.#settings.tell(`found: ${finding.kind}: ${finding.detail}`)
    this.#found.set(finding.kind, { ...finding, input: nobody, isAlone: false })
  }
}

/** Maximum number of attempts to minimize an input. There are fewer if each attempt takes long. */
function triesFor(input: Input, { kind }: Finding): number {
  if (kind.includes(' ms') || kind.includes('stays open')) return 8
  if (kind.includes('died')) return 30
  return input.kind === 'raw' ? 100 : 400
}

const nobody: Input = { kind: 'raw', from: 'none', parts: [], ending: 'leave' }

/** Errors that the server logged, with the request that caused them. */
function complaintsOf(text: string, sent: ReadonlyMap<string, Input>): [Input, Finding][] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const requestId = /"requestId":"([^"]+)"/.exec(line)?.[1] ?? ''
      const message = /"msg":"([^"]+)"/.exec(line)?.[1] ?? 'something'
      const failure = /"message":"([^"\\]{0,80})/.exec(line)?.[1] ?? ''
      const kind = `the log says: ${message}: ${failure}`
      return [sent.get(requestId) ?? nobody, { kind, detail: line.slice(0, 3_000) }]
    })
}
