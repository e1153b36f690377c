/**
 * Runs a server under load and faults, in rounds.
 *
 * In each round, clients send every command. Meanwhile the server is killed and stopped, its disk
 * is filled, its clock is moved, and its saved indexes are damaged. Clients remember acknowledged
 * writes, and compare every answer with them. After each round, all data is read again, the server
 * is stopped, and its folder is checked.
 */
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LetterModels } from '../commands/letter-models.ts'
import { Random } from '../faults/random.ts'
import { Client } from './client.ts'
import { Contest } from './contest.ts'
import {
  Faults,
  isDamageOnly,
  planRound,
  setClock,
  type FaultName,
  type LifePlan,
} from './faults.ts'
import { Ground } from './ground.ts'
import { HostileClient, hostileFlags } from './hostile-client.ts'
import { Host } from './host.ts'
import { StarvedDisk } from './starved-disk.ts'
import { Strikes } from './strikes.ts'
import { Tally } from './tally.ts'
import { Unexplained } from './unexplained.ts'
import { checkFolder, verifyAll, verifyExport, type World } from './verify.ts'

export interface TortureOptions {
  readonly seed: number
  readonly clients: number
  readonly faults: ReadonlySet<FaultName>
  /** Whether another round follows after `rounds` rounds. */
  readonly goesOn: (rounds: number) => boolean
  /** The lives of a round. If absent, the seed determines them. */
  readonly plan?: (round: number, random: Random) => readonly LifePlan[]
  /** Number of strikes on files after each round, with the fault `damage`. */
  readonly strikes?: number
  readonly say?: (line: string) => void
}

export interface TortureResult {
  readonly tally: Tally
  /**
   * An observation that no possible state explains, and the folder where the data is kept. Absent
   * if the run passes.
   */
  readonly failure?: {
    readonly error: Error
    readonly folder: string
    readonly log: string
  }
}

export async function torture(options: TortureOptions): Promise<TortureResult> {
  const { seed, faults } = options
  const tally = new Tally()
  const root = mkdtempSync(join(tmpdir(), 'stela-torture-'))
  const disk = faults.has('disk') ? mountDisk(root, tally) : undefined
  const models = await LetterModels.start()
  const clockFile = faults.has('clock') ? join(root, 'clock') : undefined
  if (clockFile !== undefined) setClock(clockFile, 0)
  const dataDir = join(disk?.folder ?? root, 'data')
  const flags = [...providerFlags(models), ...hostileFlags]
  const host = new Host({ dataDir, flags, clockFile }, tally, disk)
  let isKept = false
  const leave = () => {
    host.killNow()
    disk?.unmount()
    process.exit(130)
  }
  process.once('SIGINT', leave).once('SIGTERM', leave)
  try {
    await runRounds(host, options)
    return { tally }
  } catch (error) {
    if (error instanceof Unexplained && error.kind === 'lost') tally.lost++
    else tally.unexplained++
    await host.leave()
    disk?.relieve()
    const folder = `${root}-seed-${seed}`
    // A server that failed to start may have created no folder.
    isKept = existsSync(dataDir)
    if (isKept) cpSync(dataDir, folder, { recursive: true })
    return { tally, failure: { error: error as Error, folder, log: host.log } }
  } finally {
    process.off('SIGINT', leave).off('SIGTERM', leave)
    await host.leave()
    await models.close()
    disk?.unmount()
    rmSync(root, { recursive: true, force: true })
    if (isKept) options.say?.('the data folder was kept')
  }
}

async function runRounds(host: Host, options: TortureOptions): Promise<void> {
  const { seed, faults, goesOn, plan = (_, random) => planRound(random, faults) } = options
  const random = new Random(seed)
  const contest = new Contest(options.clients)
  const ground = new Ground(host, random.fork())
  const clients = Array.from(
    { length: options.clients },
    (_, number) => new Client(host, random.fork(), number, contest, faults.has('hangups')),
  )
  const world: World = { host, clients, contest, ground }
  const hostile = faults.has('hostile') ? [new HostileClient(host, random.fork())] : []
  const lives = new Faults(host, random.fork())
  const say = options.say ?? (() => undefined)
  const strikes = faults.has('damage')
    ? new Strikes({ world, random: random.fork(), seed, tally: host.tally.damage, say })
    : undefined
  try {
    await host.start()
    await ground.prepare()
    await contest.prepare(clients[0]!.line)
    for (const client of clients) await client.prepare()
    for (let round = 1; goesOn(host.tally.rounds); round++) {
      if (round > 1) await host.start()
      if (!isDamageOnly(faults)) {
        await runRound(world, hostile, lives, plan(round, random))
        await (faults.has('kill') ? host.kill() : host.stop())
        await host.start()
        await verifyAll(world)
        if (round % exportEvery === 0) await verifyExport(world, round / exportEvery)
      }
      await strikes?.run(options.strikes ?? (isDamageOnly(faults) ? 12 : 4))
      await host.stop()
      await checkFolder(world)
      host.tally.rounds++
      const { commands, unknown, kills, damage } = host.tally
      say(
        `round ${round}: ${commands} commands, ${unknown} unknown outcomes, ${kills} kills` +
          (strikes ? `, ${damage.strikes} damaged files` : ''),
      )
    }
  } finally {
    strikes?.close()
  }
  for (const { line } of clients) line.close()
  const { failures } = host.tally.damage
  if (failures.length > 0)
    throw new Unexplained(`damaged files fail the run:\n${failures.join('\n')}`)
}

const exportEvery = 2

/** Runs all clients during a sequence of lives. */
async function runRound(
  world: World,
  hostile: readonly HostileClient[],
  lives: Faults,
  plans: readonly LifePlan[],
): Promise<void> {
  const { host, clients } = world
  let isOver = false
  const atWork = [...clients, ...hostile].map((client) => client.run(() => isOver))
  // The first failure of a client ends the run for all clients.
  for (const work of atWork) work.catch((error: unknown) => host.breakOff(error))
  try {
    for (const plan of plans) await lives.liveThrough(plan)
  } catch (error) {
    host.breakOff(error)
  }
  isOver = true
  await Promise.race([Promise.all(atWork), host.broken])
}

function providerFlags(models: LetterModels): string[] {
  const { embeddingUrls, rerankingUrls } = models.settings
  return [
    ...['--embedding-urls', `openai=${embeddingUrls.get('openai')!}`],
    ...['--embedding-keys', 'openai=any'],
    ...['--reranking-urls', `nvidia=${rerankingUrls.get('nvidia')!}`],
  ]
}

function mountDisk(root: string, tally: Tally): StarvedDisk | undefined {
  const disk = StarvedDisk.mount(join(root, 'disk'))
  if (disk instanceof StarvedDisk) return disk
  tally.leftOut.push(`disk starvation, since nothing can be mounted here: ${disk.problem}`)
  return undefined
}
