/**
 * Damages snapshots of vector indexes. They are the only files of a data folder that a server can
 * rebuild; all other files contain primary data.
 */
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Random } from '../faults/random.ts'

/** Damages some snapshots of a stopped server. Returns the number of damaged snapshots. */
export function spoilSnapshots(dataDir: string, random: Random): number {
  const folders = snapshotFolders(dataDir).filter((_, i) => i === 0 || !random.oneIn(3))
  for (const folder of folders) random.pick(damages)(folder, random)
  return folders.length
}

function snapshotFolders(dataDir: string): string[] {
  if (!existsSync(dataDir)) return []
  return readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
    .filter((file) => basename(file) === 'snapshot.json')
    .map((file) => join(dataDir, dirname(file)))
    .toSorted()
}

type Damage = (folder: string, random: Random) => void

const damages: readonly Damage[] = [
  function cutGraph(folder, random) {
    for (const file of graphsIn(folder))
      truncateSync(file, random.below(readFileSync(file).length + 1))
  },
  function flipByte(folder, random) {
    for (const file of graphsIn(folder)) {
      const bytes = readFileSync(file)
      const place = random.below(bytes.length)
      bytes[place]! ^= 1 << random.below(8)
      writeFileSync(file, bytes)
    }
  },
  function garbleGraph(folder) {
    for (const file of graphsIn(folder))
      writeFileSync(file, Buffer.alloc(readFileSync(file).length, 'garbage'))
  },
  function removeGraph(folder) {
    for (const file of graphsIn(folder)) rmSync(file)
  },
  function cutManifest(folder, random) {
    const file = join(folder, 'snapshot.json')
    truncateSync(file, random.below(readFileSync(file).length))
  },
  function changeManifest(folder, random) {
    const file = join(folder, 'snapshot.json')
    const bytes = readFileSync(file)
    bytes[random.below(bytes.length)] = 0x30 + random.below(10)
    writeFileSync(file, bytes)
  },
  function removeManifest(folder) {
    rmSync(join(folder, 'snapshot.json'))
  },
  function removeFolder(folder) {
    rmSync(folder, { recursive: true })
  },
  function leaveUnfinished(folder) {
    writeFileSync(join(folder, '999999-0.graph'), 'half of a gr')
    writeFileSync(join(folder, 'snapshot.json.new'), '{"format":1,')
  },
]

function graphsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.graph'))
    .map((file) => join(folder, file))
}
