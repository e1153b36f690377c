/**
 * Measures bytes written per document, by kind of file. The results do not depend on the machine.
 *
 * The system counts all bytes that the process writes. The header of SQLite's index of the
 * write-ahead log contains the number of pages in the log. All other bytes written to a store are
 * checkpoints.
 */
import * as fs from 'node:fs'
import { join } from 'node:path'
import type { Engine, Write } from '../../src/engine/contract.ts'
import { openEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import type { Collection } from '../../src/engine/schema.ts'
import { parseStored } from '../../src/json/parse.ts'
import type { JsonObject } from '../../src/json/value.ts'
import { Picks } from '../documents.ts'
import { whole } from '../report.ts'
import type { Findings, Study } from './study.ts'

const batchSize = 100
const keyspace = 'default_keyspace'

export const writes: Study = {
  name: 'writes',
  says: 'bytes written per document, insertMany of 100',
  size: 1_000_000,
  smaller: [10_000, 100_000],

  async run({ sizes, seed, folder, progress }): Promise<Findings> {
    const dataDir = join(folder, 'data')
    const engine = await openEmbeddedEngine({
      dataDir,
      durable: false,
      log: () => undefined,
    })
    try {
      const name = 'documents'
      const options = { lexical: { enabled: false }, rerank: { enabled: false } }
      await engine.changeSchema(keyspace, () => ({
        kind: 'createCollection',
        name,
        options,
      }))
      const target = await engine.findTarget(keyspace, name)
      const inserting = new Inserting(engine, target as Collection, seed, dataDir)
      const rows: string[][] = []
      for (const size of sizes) {
        const loaded = await inserting.upTo(size)
        rows.push([`loading up to ${whole(size)}`, ...cellsOf(loaded)])
        const more = await inserting.upTo(size + Math.ceil(size / 10))
        rows.push([`the next ${whole(size / 10)}`, ...cellsOf(more)])
        progress(`${whole(size)} documents: ${cellsOf(more).join(', ')}`)
      }
      const head = ['documents', 'log', 'database', 'other', 'all', 'documents/s']
      return {
        tables: [{ title: 'Bytes written per document', head, rows }],
        figures: [
          {
            what: 'bytes on disk per document',
            value: inserting.bytesOnDisk(),
            unit: 'bytes',
          },
        ],
      }
    } finally {
      await engine.close()
    }
  },
}

interface Written {
  readonly documents: number
  readonly ms: number
  /** Bytes written in total, to write-ahead logs, and to files outside of stores. */
  readonly all: number
  readonly log: number
  readonly other: number
}

function cellsOf({ documents, ms, all, log, other }: Written): string[] {
  const bytes = [log, all - log - other, other, all]
  return [...bytes.map((size) => whole(size / documents)), whole((1000 * documents) / ms)]
}

class Inserting {
  readonly #engine: Engine
  readonly #target: Collection
  readonly #folder: string
  readonly #picks: Picks
  readonly #log: LogMeter
  #documents = 0

  constructor(engine: Engine, target: Collection, seed: number, dataDir: string) {
    this.#engine = engine
    this.#target = target
    this.#folder = dataDir
    this.#picks = new Picks(seed, 0)
    this.#log = new LogMeter(join(dataDir, keyspace, target.name, 'store.db'))
  }

  async upTo(size: number): Promise<Written> {
    const documents = size - this.#documents
    const before = { all: bytesWritten(), other: this.#otherSize(), log: this.#log.size }
    let ms = 0
    while (this.#documents < size) {
      const count = Math.min(batchSize, size - this.#documents)
      const batch = Array.from({ length: count }, () => insertOf(this.#picks.newDocument()))
      const startedAt = performance.now()
      await this.#engine.write(this.#target, batch)
      ms += performance.now() - startedAt
      this.#documents += count
      this.#log.look()
    }
    return {
      documents,
      ms,
      all: bytesWritten() - before.all,
      log: this.#log.size - before.log,
      other: this.#otherSize() - before.other,
    }
  }

  bytesOnDisk(): number {
    const { size } = fs.statSync(
      join(this.#folder, keyspace, this.#target.name, 'store.db'),
    )
    return size / this.#documents
  }

  /** Total bytes of files outside of stores. */
  #otherSize(): number {
    const files = fs.readdirSync(this.#folder, { recursive: true, withFileTypes: true })
    return files
      .filter((file) => file.isFile() && !file.name.startsWith('store.db'))
      .reduce((sum, file) => sum + fs.statSync(join(file.parentPath, file.name)).size, 0)
  }
}

/**
 * Counts the bytes that are appended to the write-ahead log of a store. The log restarts from time
 * to time.
 */
class LogMeter {
  readonly #file: string
  #lastFrames = 0
  size = 0

  constructor(store: string) {
    this.#file = `${store}-shm`
  }

  look(): void {
    const header = Buffer.alloc(48)
    const handle = fs.openSync(this.#file, 'r')
    fs.readSync(handle, header, 0, header.length, 0)
    fs.closeSync(handle)
    // The header contains the page size, and the number of pages in the log:
    // https://sqlite.org/walformat.html
    const pageSize = header.readUInt16LE(14)
    const frames = header.readUInt32LE(16)
    const added = frames >= this.#lastFrames ? frames - this.#lastFrames : frames
    this.#lastFrames = frames
    this.size += added * (pageSize + 24)
  }
}

function bytesWritten(): number {
  return Number(/^wchar: (\d+)$/m.exec(fs.readFileSync('/proc/self/io', 'latin1'))![1])
}

function insertOf(text: string): Write {
  const document = parseStored(text) as JsonObject
  return {
    kind: 'insert',
    record: { id: document.get('_id')!, text, document, search: {} },
  }
}
