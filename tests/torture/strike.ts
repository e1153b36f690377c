/**
 * One strike: damages one file in a copy of the data folder of a stopped server. Then
 * `stela check`, a server and, when offered, a repair run on copies of the damaged folder.
 */
import { basename, join } from 'node:path'
import type { Random } from '../faults/random.ts'
import type { Damage } from './damage.ts'
import {
  explanationOf,
  findingsOf,
  isCrash,
  linesOf,
  warningsOf,
  type Report,
} from './evidence.ts'
import {
  changesBetween,
  copyFolder,
  digestsOf,
  placeStores,
  whereIs,
  type ReadyStore,
} from './folders.ts'
import { Host } from './host.ts'
import { schemaLists, type World } from './verify.ts'
import { runStela, type CommandResult } from './stela-command.ts'
import { Survey, type Difference } from './survey.ts'
import { Tally } from './tally.ts'

/**
 * `refused`: the server does not start and says why. `repaired`: the server does not start, and a
 * repair restores everything, or names what is lost. `reported`: answers differ from the model, and
 * all differences were reported. `noticed`: all answers are correct, and there is a report.
 * `harmless`: all answers are correct, and there is no report. `silent`: answers differ without a
 * report. `vague`: the server answers with errors that do not mention damage. `failed`: a crash, a
 * hang, or an exit code that indicates one.
 */
export const outcomes = [
  'refused',
  'repaired',
  'reported',
  'noticed',
  'harmless',
  'silent',
  'vague',
  'failed',
] as const

export type Outcome = (typeof outcomes)[number]

export interface StrikeResult {
  readonly outcome: Outcome
  /** Reasons why the run fails; empty when it passes. */
  readonly failures: readonly string[]
  readonly differences: readonly Difference[]
  readonly reports: readonly Report[]
  readonly check: CommandResult
  /** Files that `stela check` changed, although it must change none. */
  readonly checkChanges: readonly string[]
  /** Error text of the server that refused to start. */
  readonly refusal: string | undefined
  /**
   * Whether only `stela check` reports the difference. Neither an error nor the server's log
   * reports it.
   */
  readonly isToldByCheckAlone: boolean
  /**
   * Whether `stela check` found nothing, although the damage affects the server or its
   * answers.
   */
  readonly isMissedByCheck: boolean
  readonly acceptedLoss: boolean
}

export interface StrikeOptions {
  readonly world: World
  /** The damaged folder, which stays unchanged. */
  readonly damaged: string
  /** The folder in which the strike makes its copies. */
  readonly scratch: string
  readonly stores: readonly ReadyStore[]
  /** The damage; undefined for a control strike, which damages nothing. */
  readonly damage: Damage | undefined
  readonly random: Random
}

export class Strike {
  readonly #options: StrikeOptions
  readonly #failures: string[] = []
  readonly #reports: Report[] = []
  readonly #checkChanges: string[] = []
  #acceptedLoss = false

  constructor(options: StrikeOptions) {
    this.#options = options
  }

  async run(): Promise<StrikeResult> {
    // The check and the server work on copies of the damaged folder, so both run in parallel.
    const [check, served] = await Promise.all([this.#check(), this.#serve()])
    const findings = findingsOf(check)
    const { differences, refusal } = served
    let outcome = this.#outcomeOf(differences, [...this.#reports, ...findings])
    if (refusal !== undefined) {
      this.#judgeRefusal(refusal)
      outcome = 'refused'
      if (refusal.includes('repair --catalog')) {
        outcome = await this.#repair()
        // The refusal does not offer --accept-lost-catalog if SQLite cannot read the catalog, which
        // then can only be rebuilt.
        const isOffered = refusal.includes('--accept-lost-catalog')
        if (this.#options.random.oneIn(2) && isOffered) await this.#acceptLoss()
      }
    }
    const isAffected = !['noticed', 'harmless'].includes(outcome)
    return {
      outcome: this.#failures.length > 0 && !isBad(outcome) ? 'failed' : outcome,
      failures: this.#failures,
      differences,
      reports: [...this.#reports, ...findings],
      check,
      checkChanges: this.#checkChanges,
      refusal,
      isToldByCheckAlone:
        outcome === 'reported' &&
        differences.some((difference) => !explanationOf(difference, this.#reports)),
      isMissedByCheck: isAffected && check.code === 0,
      acceptedLoss: this.#acceptedLoss,
    }
  }

  /** Runs `stela check`. It must change nothing, and report whether the folder is intact. */
  async #check(): Promise<CommandResult> {
    const dataDir = this.#copy('check')
    const before = digestsOf(dataDir)
    const result = await runStela(['check', '--data', dataDir])
    const changes = changesBetween(before, digestsOf(dataDir))
    if (result.code !== 0 && result.code !== 1)
      this.#fail(`stela check ended with ${result.code}: ${result.err}`)
    if (isCrash(result.err)) this.#fail(`stela check crashed: ${result.err}`)
    this.#checkChanges.push(...changes)
    return result
  }

  async #serve(): Promise<Served> {
    return this.#serveFrom(this.#copy('serve'), this.#placed('serve'))
  }

  /** Starts a server on the folder and compares all answers with the model. */
  async #serveFrom(
    dataDir: string,
    placed: ReturnType<typeof placeStores>,
  ): Promise<Served> {
    const { random } = this.#options
    const host = this.#newHost(dataDir)
    try {
      const started = await host.tryStart()
      if (started === 'hangs') this.#fail('the server neither serves nor ends')
      if (started !== 'serves')
        return { differences: [], refusal: started === 'ended' ? host.log : undefined }
      const survey = new Survey(this.#options.world, host, random)
      await this.#through(host, () => survey.run())
      if (host.failure !== undefined) this.#fail(messageOf(host.failure))
      else if (random.oneIn(4))
        await host.stop().catch((error: unknown) => this.#fail(messageOf(error)))
      return { differences: survey.differences, refusal: undefined }
    } finally {
      this.#reports.push(...warningsOf(host.warnings))
      await host.leave()
      for (const store of placed)
        if (whereIs(store, dataDir) === 'deleted')
          this.#fail(`the store of ${store.target} was deleted: ${store.folder}`)
    }
  }

  /**
   * Checks that the message names the file, the catalog, or the inconsistent part of the folder.
   */
  #judgeRefusal(refusal: string): void {
    const { damage } = this.#options
    if (isCrash(refusal)) this.#fail(`the server crashed at its start: ${refusal}`)
    if (damage === undefined) return this.#fail(`a sound folder was refused: ${refusal}`)
    const file = basename(damage.file).replace(/-(?:wal|shm)$/, '')
    const isNamed = [file, 'catalog', '/data/'].some((name) => refusal.includes(name))
    if (!isNamed) this.#fail(`the refusal does not name what is damaged: ${refusal}`)
  }

  /**
   * Runs the repair that the refusal offers. Afterwards everything must be present, or be reported
   * as lost.
   */
  async #repair(): Promise<Outcome> {
    const dataDir = this.#copy('repair')
    const placed = this.#placed('repair')
    const repair = await runStela(['repair', '--catalog', '--data', dataDir])
    const said = repair.out + repair.err
    this.#reports.push(...linesOf('repair', said))
    if (repair.code !== 0 || isCrash(repair.err)) {
      this.#fail(`the repair that was offered ended with ${repair.code}: ${said}`)
      return 'refused'
    }
    const reports = this.#reports.length
    const { differences, refusal } = await this.#serveFrom(dataDir, placed)
    if (refusal !== undefined) {
      this.#fail(`the repaired folder was refused: ${refusal}`)
      return 'refused'
    }
    const check = await runStela(['check', '--data', dataDir])
    if (check.code !== 0 && check.code !== 1)
      this.#fail(
        `stela check of the repaired folder ended with ${check.code}: ${check.err}`,
      )
    const told = [...this.#reports.slice(reports), ...linesOf('repair', said)]
    const outcome = this.#outcomeOf(differences, [...told, ...findingsOf(check)])
    return isBad(outcome) ? outcome : 'repaired'
  }

  /** Starts a server with --accept-lost-catalog, which must delete no store. */
  async #acceptLoss(): Promise<void> {
    this.#acceptedLoss = true
    const dataDir = this.#copy('accept')
    const placed = this.#placed('accept')
    const host = this.#newHost(dataDir, '--accept-lost-catalog')
    try {
      const started = await host.tryStart()
      if (started !== 'serves')
        return this.#fail(`with --accept-lost-catalog the server ${started}: ${host.log}`)
      const listed = await this.#through(host, () => this.#listTargets())
      for (const store of placed) {
        const where = whereIs(store, dataDir)
        const isListed = listed.has(store.target)
        if (where === 'deleted')
          this.#fail(`--accept-lost-catalog deleted the store of ${store.target}`)
        if (where === 'in place' && !isListed)
          this.#fail(`${store.target} is not listed, and its store was left in place`)
      }
    } finally {
      await host.leave()
    }
  }

  /**
   * Lists targets of the default keyspace. Targets of another keyspace count as listed if their
   * keyspace is listed.
   */
  async #listTargets(): Promise<ReadonlySet<string>> {
    const { world, stores } = this.#options
    const lists = schemaLists(world)
    const namesOf = async (what: string) =>
      (await lists.find((list) => list.what === what)!.read()).map(
        (name) => `default_keyspace.${name}`,
      )
    const keyspaces = await lists.find(({ what }) => what === 'the keyspaces')!.read()
    const elsewhere = stores
      .map(({ target }) => target)
      .filter((target) => !target.startsWith('default_keyspace.'))
      .filter((target) => keyspaces.includes(target.split('.')[0]!))
    return new Set([
      ...(await namesOf('the collections')),
      ...(await namesOf('the tables')),
      ...elsewhere,
    ])
  }

  #outcomeOf(differences: readonly Difference[], reports: readonly Report[]): Outcome {
    const unexplained = differences.filter(
      (difference) => explanationOf(difference, reports) === undefined,
    )
    for (const { place, what, error } of unexplained.slice(0, 3))
      this.#fail(`${error === undefined ? 'SILENT' : 'vague'}: ${place}: ${what}`)
    if (unexplained.some(({ error }) => error === undefined)) return 'silent'
    if (unexplained.length > 0) return 'vague'
    if (differences.length > 0) return 'reported'
    return reports.length > 0 ? 'noticed' : 'harmless'
  }

  #copy(name: string): string {
    const to = join(this.#options.scratch, name, 'data')
    copyFolder(this.#options.damaged, to)
    return to
  }

  #placed(name: string): ReturnType<typeof placeStores> {
    return placeStores(join(this.#options.scratch, name, 'data'), this.#options.stores)
  }

  #newHost(dataDir: string, ...more: readonly string[]): Host {
    const { world, random } = this.#options
    const { options } = world.host
    const few = random.oneIn(2) ? ['--max-open', '2'] : []
    const flags = [...options.flags, ...few, ...more]
    // A new tally, so that the counts of servers with damaged data stay separate.
    return new Host({ ...options, dataDir, flags }, new Tally(), undefined)
  }

  /** Sends commands of all clients to another host while `act` runs. */
  async #through<T>(host: Host, act: () => Promise<T>): Promise<T> {
    const { clients, ground, host: own } = this.#options.world
    const lines = [...clients.map(({ line }) => line), ground.documents.line]
    for (const line of lines) line.host = host
    try {
      return await act()
    } finally {
      for (const line of lines) line.host = own
    }
  }

  #fail(why: string): void {
    this.#failures.push(why)
  }
}

interface Served {
  readonly differences: readonly Difference[]
  /** Error text of a server that did not start. */
  readonly refusal: string | undefined
}

function isBad(outcome: Outcome): boolean {
  return outcome === 'silent' || outcome === 'vague'
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
