/**
 * A server that is killed while it builds or saves search indexes finds the right results after a
 * restart. Damage to a saved vector index causes only a rebuild.
 */
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '../engine/settings.ts'
import { checkDataFolder } from '../engine/embedded/backup/check-data-folder.ts'
import { temporaryFolder } from '../harness.ts'
import { bySimilarity } from '../model/search-oracle.ts'
import { Random, seed } from './random.ts'
import { SearchLoad } from './search-load.ts'
import { killWithSnapshot } from './snapshot-killer.ts'
import { killLeftovers, ServerProcess } from './server-process.ts'
import { assertSound } from './sound-copy.ts'

const flags = ['--page-size', '1000', '--max-count', '1000000', '--log-level', 'warn']

/** Number of changed vectors, slightly above the number that triggers a save of the index. */
const changesToSave = 1_500

let root: string
before(async () => {
  root = await temporaryFolder()
})
after(() => rmSync(root, { recursive: true, force: true }))
afterEach(killLeftovers)

function snapshotOf(folder: string, name: string): string {
  return join(folder, 'default_keyspace', name, 'vectors')
}

/** The moment of the kill. */
type Moment = 'any time' | 'while a snapshot is written' | 'after a snapshot'

const moments: readonly Moment[] = [
  'any time',
  'while a snapshot is written',
  'any time',
  'while a snapshot is written',
  'after a snapshot',
]

test(`a server killed ${moments.length} times during indexing finds all stored documents`, async (t) => {
  t.diagnostic(`SEED=${seed}`)
  const random = new Random(seed)
  const folder = join(root, 'killed')
  const load = new SearchLoad(random.fork())
  let server = await ServerProcess.start(folder, ...flags)
  await load.prepare(server)
  // Creates the folder of the snapshot before the server does, so that the test can watch the
  // folder.
  const snapshot = snapshotOf(folder, 'many')
  mkdirSync(snapshot)
  let halfWritten = 0
  for (const moment of moments) {
    const writing = load.run(server, 4)
    const pid = server.child.pid!
    await Promise.race([
      writing,
      untilMoment(moment, load, { folder: snapshot, pid }, random),
    ])
    await server.kill()
    await writing
    if (unnamedIn(snapshot).length > 0) halfWritten++
    assertSound(folder)
    if (random.oneIn(3)) {
      // Kills the server again while it loads its indexes.
      const again = await ServerProcess.start(folder, ...flags)
      const searching = load.run(again, 2)
      await delay(random.below(150))
      await again.kill()
      await searching
      assertSound(folder)
    }
    server = await ServerProcess.start(folder, ...flags)
    await load.verify(server)
  }
  assert.equal(await server.stop(), 0)
  assertSound(folder)
  server = await ServerProcess.start(folder, ...flags)
  await load.verify(server)
  assert.equal(await server.stop(), 0)
  assert.equal(server.err, '', 'what was saved at the end can be used')
  assert.deepEqual(
    unnamedIn(snapshot),
    [],
    'the last snapshot removed what was left behind',
  )
  t.diagnostic(
    `${load.answered} writes answered, ${load.inDoubt} cut short, ${load.changes} ` +
      `documents changed, ${load.searches} searches, ${halfWritten} snapshots half written`,
  )
})

async function untilMoment(
  moment: Moment,
  load: SearchLoad,
  snapshot: { readonly folder: string; readonly pid: number },
  random: Random,
): Promise<void> {
  load.lightAfter(Infinity)
  if (moment === 'any time') {
    await delay(100 + random.below(700))
    return
  }
  const isAfter = moment === 'after a snapshot'
  const saved = isAfter ? snapshotSaved(snapshot.folder) : killWithSnapshot(snapshot)
  load.lightAfter(changesToSave)
  await saved
  if (!isAfter) return
  load.lightAfter(Infinity)
  await delay(random.below(300))
}

/** Resolves when a snapshot is complete. */
function snapshotSaved(folder: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(folder, { persistent: false }, (_, name) => {
      if (name !== 'snapshot.json') return
      watcher.close()
      resolve()
    })
  })
}

/** Files in the folder of a snapshot that its manifest does not list. */
function unnamedIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  const files = readdirSync(folder).filter((file) => file !== 'snapshot.json')
  const manifest = join(folder, 'snapshot.json')
  const named = existsSync(manifest) ? readFileSync(manifest, 'utf8') : ''
  return files.filter((file) => !named.includes(`"${file}"`))
}

/** Damage to a snapshot while no server runs, and whether the next server logs the damage. */
interface Damage {
  readonly what: string
  readonly isTold: boolean
  readonly spoil: (folder: string) => void
}

const damages: readonly Damage[] = [
  {
    what: 'a graph of garbage',
    isTold: true,
    spoil: (folder) => {
      const file = graphIn(folder)
      writeFileSync(file, Buffer.alloc(readFileSync(file).length, 'garbage'))
    },
  },
  {
    what: 'a graph with a byte too many',
    isTold: true,
    spoil: (folder) => writeFileSync(graphIn(folder), 'x', { flag: 'a' }),
  },
  {
    what: 'a graph that was cut off',
    isTold: true,
    spoil: (folder) => truncateSync(graphIn(folder), 10_000),
  },
  { what: 'no graph', isTold: true, spoil: (folder) => rmSync(graphIn(folder)) },
  { what: 'a manifest of garbage', isTold: true, spoil: spoilManifest(() => '\0\xff{"') },
  { what: 'an empty manifest', isTold: true, spoil: spoilManifest(() => '') },
  { what: 'a manifest of null', isTold: true, spoil: spoilManifest(() => 'null') },
  {
    what: 'a manifest with an absurd capacity',
    isTold: true,
    spoil: spoilManifest((text) => text.replace(/"capacity":\d+/, '"capacity":1e15')),
  },
  {
    what: 'a manifest of another format',
    isTold: true,
    spoil: spoilManifest((text) => text.replace(/"format":\d+/, '"format":1000')),
  },
  {
    what: 'a manifest with a capacity that is a little smaller',
    isTold: true,
    spoil: spoilManifest((text) => text.replace(/"capacity":\d/, '"capacity":')),
  },
  {
    what: 'a manifest of another version of the store',
    isTold: true,
    spoil: spoilManifest((text) => text.replace(/"version":\d+/, '"version":1')),
  },
  {
    what: 'no manifest',
    isTold: false,
    spoil: (folder) => rmSync(join(folder, 'snapshot.json')),
  },
  {
    what: 'no folder',
    isTold: false,
    spoil: (folder) => rmSync(folder, { recursive: true }),
  },
  {
    what: 'what was never finished, beside it',
    isTold: false,
    spoil: (folder) => {
      writeFileSync(join(folder, '999999-0.graph'), 'half of a gr')
      writeFileSync(join(folder, 'snapshot.json.new'), '{"format":1,')
    },
  },
]

describe('a snapshot that was damaged while no server ran', () => {
  const dimension = 8
  const count = 1_050
  /** The stored documents with their vectors, by collection. */
  const stored = new Map<string, { _id: number; half: boolean; $vector: number[] }[]>()
  let folder: string

  before(async () => {
    folder = join(root, 'spoiled')
    const random = new Random(seed)
    const server = await ServerProcess.start(folder, '--durability', 'relaxed', ...flags)
    for (const i of damages.keys()) {
      const documents = Array.from({ length: count }, (_, _id) => ({
        _id,
        half: _id % 2 === 0,
        $vector: vectorOf(random),
      }))
      stored.set(`c${i}`, documents)
      const options = { vector: { dimension, metric: 'euclidean' } }
      await send(server, '', { createCollection: { name: `c${i}`, options } })
      for (let at = 0; at < count; at += 100)
        await send(server, `/c${i}`, {
          insertMany: { documents: documents.slice(at, at + 100) },
        })
      // A search waits until the index has all vectors. Only then a stop saves a snapshot.
      await send(server, `/c${i}`, { findOne: { sort: { $vector: vectorOf(random) } } })
    }
    assert.equal(await server.stop(), 0)
    for (const [i, { what, spoil }] of damages.entries()) {
      const snapshot = snapshotOf(folder, `c${i}`)
      assert(existsSync(join(snapshot, 'snapshot.json')), `${what}: it was saved`)
      spoil(snapshot)
    }
  })

  const vectorOf = (random: Random) =>
    Array.from({ length: dimension }, () => random.below(4_001) / 1_000 - 2)

  async function assertFinds(server: ServerProcess, name: string): Promise<void> {
    const documents = stored.get(name)!
    const random = new Random(seed + 1)
    for (const [filter, limit, times] of [
      [{}, 10, 3],
      [{ half: true }, 1_000, 1],
      [{ half: false }, 10, 3],
    ] as const)
      for (let i = 0; i < times; i++) {
        const $vector = vectorOf(random)
        const { data } = await send(server, `/${name}`, {
          find: { filter, sort: { $vector }, options: { limit } },
        })
        const among = documents.filter(
          ({ half }) => ('half' in filter ? filter.half : half) === half,
        )
        const expected = bySimilarity(among, 'euclidean', $vector).slice(0, limit)
        assert.deepEqual(
          data!.documents!.map(({ _id }) => _id),
          expected.map(({ document }) => document._id),
        )
      }
  }

  test('is replaced by a rebuilt index, and the log reports a snapshot that cannot be used', async () => {
    const server = await ServerProcess.start(folder, ...flags)
    for (const [i, { what, isTold }] of damages.entries()) {
      const before = server.err.length
      await assertFinds(server, `c${i}`)
      // The log arrives by a pipe, possibly later than the reply.
      if (isTold) await eventually(() => server.err.length > before)
      const told = server.err.slice(before)
      const line =
        /^\{"level":40,.*snapshot.*\/c\d+\/.* cannot be used, so the index is rebuilt.*\}\n$/
      if (isTold) assert.match(told, line, what)
      else assert.equal(told, '', what)
    }
    assert.equal(await server.stop(), 0)
    assert.deepEqual(checkDataFolder(folder), [])
  })

  test('is replaced by a new snapshot, which the next server loads without a report of damage', async () => {
    const server = await ServerProcess.start(folder, ...flags)
    for (const i of damages.keys()) await assertFinds(server, `c${i}`)
    assert.equal(await server.stop(), 0)
    assert.equal(server.err, '')
  })
})

function graphIn(folder: string): string {
  const name = readdirSync(folder).find((file) => file.endsWith('.graph'))
  return join(folder, name!)
}

function spoilManifest(change: (text: string) => string): (folder: string) => void {
  return (folder) => {
    const file = join(folder, 'snapshot.json')
    writeFileSync(file, change(readFileSync(file, 'utf8')), 'latin1')
  }
}

async function send(server: ServerProcess, path: string, command: object) {
  const answer = await server.command(`/default_keyspace${path}`, command)
  assert.deepEqual(answer.codes, [], answer.text.slice(0, 1_000))
  return answer.body
}
