/** Inspects write-ahead logs that SQLite wrote, both intact and damaged. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import {
  inspectLog,
  type LogState,
} from '../../../../src/engine/embedded/files/write-ahead-log.ts'
import { Random, seed } from '../../../faults/random.ts'

const home = mkdtempSync(join(tmpdir(), 'stela-log-'))
after(() => rmSync(home, { recursive: true, force: true }))
let folders = 0

function newFolder(): string {
  const folder = join(home, `${++folders}`)
  mkdirSync(folder)
  return folder
}

/** A copy of a database and its log, as a killed process leaves them. */
function copyOf(file: string): string {
  const copy = join(newFolder(), 'a.db')
  for (const end of ['', '-wal'])
    if (existsSync(file + end)) copyFileSync(file + end, copy + end)
  return copy
}

/** Runs `write` on an open database, and returns a copy of its files. */
function written(write: (database: DatabaseSync) => void, pageSize = 1024): string {
  const file = join(newFolder(), 'a.db')
  const database = new DatabaseSync(file)
  try {
    database.exec(`
      PRAGMA page_size = ${pageSize};
      PRAGMA journal_mode = WAL;
      PRAGMA wal_autocheckpoint = 0;
      CREATE TABLE t(id INTEGER PRIMARY KEY, x BLOB);
    `)
    write(database)
    return copyOf(file)
  } finally {
    database.close()
  }
}

/**
 * The bytes of the log, the size of its frames in bytes, and for each complete frame whether it is
 * a commit frame.
 */
function layoutOf(file: string) {
  const bytes = readFileSync(`${file}-wal`)
  const frameSize = 24 + bytes.readUInt32BE(8)
  const commits: boolean[] = []
  for (let at = 32; at + frameSize <= bytes.length; at += frameSize)
    commits.push(bytes.readUInt32BE(at + 4) !== 0)
  return { bytes, frameSize, commits }
}

function flip(file: string, position: number, bit: number): void {
  const bytes = readFileSync(file)
  bytes[position]! ^= 1 << bit
  writeFileSync(file, bytes)
}

/** Number of rows that SQLite finds after it has recovered the log. */
function rowsIn(file: string): number {
  const database = new DatabaseSync(copyOf(file))
  try {
    const [verdict] = database.prepare('PRAGMA integrity_check').all()
    assert.equal(verdict!['integrity_check'], 'ok')
    return Number(database.prepare('SELECT count(*) AS n FROM t').get()!['n'])
  } finally {
    database.close()
  }
}

const insertSql = 'INSERT INTO t(x) VALUES (randomblob(3000))'
/**
 * A transaction that is larger than the page cache, so that SQLite writes some of its pages before
 * the commit.
 */
const spillSql = `
  PRAGMA cache_size = 10;
  BEGIN;
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
    INSERT INTO t(x) SELECT randomblob(900) FROM n;
`

function sound(state: LogState): Extract<LogState, { kind: 'sound' }> {
  assert.equal(state.kind, 'sound', JSON.stringify(state))
  return state as Extract<LogState, { kind: 'sound' }>
}

describe('a write-ahead log', () => {
  test('is reported as absent when it does not exist, and as empty without frames', () => {
    const file = written(() => undefined)
    const { bytes } = layoutOf(file)
    for (const size of [0, 1, 31, 32, 32 + 24, 32 + 24 + 1023]) {
      writeFileSync(`${file}-wal`, bytes.subarray(0, size))
      assert.deepEqual(inspectLog(file), { kind: 'empty' }, `${size} bytes`)
    }
    rmSync(`${file}-wal`)
    assert.deepEqual(inspectLog(file), { kind: 'absent' })
  })

  for (const pageSize of [512, 1024, 4096, 65_536])
    test(`is reported with its numbers of frames and commits, for pages of ${pageSize} bytes`, () => {
      const file = written((database) => {
        for (let i = 0; i < 20; i++) database.exec(insertSql)
      }, pageSize)
      const { commits } = layoutOf(file)
      assert.deepEqual(inspectLog(file), {
        kind: 'sound',
        frames: commits.length,
        // 20 inserts, and the creation of the table.
        commits: 21,
        uncommitted: 0,
      })
    })

  test('is inspected in full when it is larger than a chunk of the inspection', () => {
    const file = written((database) => {
      for (let i = 0; i < 100; i++)
        database.exec('INSERT INTO t(x) VALUES (randomblob(100000))')
    })
    const { bytes, commits } = layoutOf(file)
    assert(bytes.length > 10_000_000)
    const { frames, commits: counted } = sound(inspectLog(file))
    assert.deepEqual([frames, counted], [commits.length, 101])
    flip(`${file}-wal`, Math.floor(bytes.length / 2), 3)
    assert.equal(inspectLog(file).kind, 'damaged')
  })

  test('is reported as intact when its checksums use the byte order of another machine', () => {
    const file = written((database) => database.exec(insertSql))
    const { bytes, frameSize, commits } = layoutOf(file)
    // The lowest bit of the magic number is the byte order of all checksums.
    bytes.writeUInt32BE((bytes.readUInt32BE(0) ^ 1) >>> 0, 0)
    const isBig = (bytes.readUInt32BE(0) & 1) === 1
    let [first, second] = [0, 0]
    const add = (start: number, end: number) => {
      for (let at = start; at < end; at += 8) {
        const word = (i: number) => (isBig ? bytes.readInt32BE(i) : bytes.readInt32LE(i))
        first = (first + word(at) + second) | 0
        second = (second + word(at + 4) + first) | 0
      }
    }
    const put = (at: number) => bytes.writeInt32BE(second, bytes.writeInt32BE(first, at))
    add(0, 24)
    put(24)
    for (let at = 32; at < bytes.length; at += frameSize) {
      add(at, at + 8)
      add(at + 24, at + frameSize)
      put(at + 16)
    }
    writeFileSync(`${file}-wal`, bytes)
    assert.equal(rowsIn(file), 1)
    assert.equal(sound(inspectLog(file)).frames, commits.length)
  })

  test('is reported as intact after its process was killed', () => {
    const file = join(newFolder(), 'a.db')
    const script = `
      const { DatabaseSync } = require('node:sqlite')
      const database = new DatabaseSync(${JSON.stringify(file)})
      database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, x)')
      for (let i = 0; i < 50; i++) database.exec("${insertSql}")
      database.exec(${JSON.stringify(spillSql)})
      process.kill(process.pid, 'SIGKILL')
    `
    const args = ['--disable-warning=ExperimentalWarning', '-e', script]
    assert.throws(() => execFileSync(process.execPath, args, { stdio: 'pipe' }))
    const state = sound(inspectLog(file))
    assert.equal(state.commits, 51)
    assert(state.uncommitted > 0, 'the transaction was to spill')
    assert.equal(rowsIn(file), 50)
  })

  test('is reported as intact after a transaction spilled and was rolled back', () => {
    const file = written((database) => {
      database.exec(insertSql)
      database.exec(`${spillSql} ROLLBACK`)
      database.exec(insertSql)
    })
    const { commits } = layoutOf(file)
    assert(commits.length > 50, 'the transaction was to spill')
    const state = sound(inspectLog(file))
    assert.equal(state.commits, 3)
    assert(state.frames < commits.length)
    assert.equal(rowsIn(file), 2)
  })

  test('is reported as intact after a restart of the log, even if frames of an earlier generation follow', () => {
    const file = written((database) => {
      for (let i = 0; i < 20; i++) database.exec(insertSql)
      database.exec('PRAGMA wal_checkpoint(RESTART)')
      database.exec(insertSql)
    })
    const { commits } = layoutOf(file)
    const state = sound(inspectLog(file))
    assert.equal(state.commits, 1)
    assert(state.frames < commits.length)
    assert.equal(rowsIn(file), 21)
  })

  test('is reported as intact with any bytes after its last commit', () => {
    const file = written((database) => database.exec(insertSql))
    const expected = inspectLog(file)
    for (const tail of [
      Buffer.alloc(10_000),
      Buffer.alloc(10_000, 0xff),
      Buffer.from('x'),
    ]) {
      const copy = copyOf(file)
      appendFileSync(`${copy}-wal`, tail)
      assert.deepEqual(inspectLog(copy), expected)
    }
  })
})

describe('damage to a write-ahead log', () => {
  console.log(`SEED=${seed}`)
  const random = new Random(seed)

  function randomLog(): string {
    return written(
      (database) => {
        const steps = 3 + random.below(20)
        for (let i = 0; i < steps; i++)
          if (random.oneIn(8)) database.exec(`${spillSql} ROLLBACK`)
          else if (random.oneIn(8)) database.exec('PRAGMA wal_checkpoint(RESTART)')
          else database.exec(`INSERT INTO t(x) VALUES (randomblob(${random.below(9000)}))`)
        // These two commits are in the same generation of the log, even if the last step restarted
        // the log.
        database.exec(insertSql)
        database.exec(insertSql)
      },
      random.pick([512, 1024, 4096]),
    )
  }

  test('is found when any bit before the last commit is flipped', () => {
    for (let log = 0; log < 20; log++) {
      const file = randomLog()
      const { bytes, frameSize } = layoutOf(file)
      const { frames, commits } = sound(inspectLog(file))
      // The last commit frame stays intact: damage to it looks like a transaction whose writing was
      // interrupted.
      const end = 32 + (frames - 1) * frameSize
      for (let i = 0; i < 50; i++) {
        const position = random.below(end)
        const bit = random.below(8)
        const copy = copyOf(file)
        flip(`${copy}-wal`, position, bit)
        const state = inspectLog(copy)
        const label = `SEED=${seed}: log ${log}, bit ${bit} of byte ${position}`
        assert.equal(state.kind, 'damaged', label)
        if (state.kind !== 'damaged') continue
        const frame = position < 32 ? 0 : 1 + Math.floor((position - 32) / frameSize)
        assert.equal(state.frame, frame, label)
        // A damaged commit frame is counted neither in `commits` nor in `lost`.
        if (frame > 0) {
          const isCommit = bytes.readUInt32BE(32 + (frame - 1) * frameSize + 4) !== 0
          assert.equal(state.commits + state.lost + (isCommit ? 1 : 0), commits, label)
        } else assert(state.lost >= commits, label)
      }
    }
  })

  test('is ignored when a bit after the last commit is flipped', () => {
    for (let log = 0; log < 20; log++) {
      const file = randomLog()
      const { bytes, frameSize } = layoutOf(file)
      const before = sound(inspectLog(file))
      const start = 32 + before.frames * frameSize
      for (let i = 0; i < 20 && start < bytes.length; i++) {
        const position = start + random.below(bytes.length - start)
        const copy = copyOf(file)
        flip(`${copy}-wal`, position, random.below(8))
        const { frames, commits } = sound(inspectLog(copy))
        const label = `SEED=${seed}: log ${log}, byte ${position}`
        assert.deepEqual([frames, commits], [before.frames, before.commits], label)
      }
    }
  })

  test('is found when bytes before the last commit are overwritten', () => {
    for (let log = 0; log < 20; log++) {
      const file = randomLog()
      const { frameSize } = layoutOf(file)
      const end = 32 + (sound(inspectLog(file)).frames - 1) * frameSize
      for (let i = 0; i < 20; i++) {
        const bytes = readFileSync(`${file}-wal`)
        const start = 32 + random.below(end - 32)
        const length = 1 + random.below(Math.min(end - start, 5000))
        for (let at = start; at < start + length; at++) bytes[at]! ^= 0x5a
        const copy = copyOf(file)
        writeFileSync(`${copy}-wal`, bytes)
        const label = `SEED=${seed}: log ${log}, ${length} bytes from ${start}`
        assert.equal(inspectLog(copy).kind, 'damaged', label)
      }
    }
  })

  test('is reported with the number of commits that SQLite recovers', () => {
    const file = written((database) => {
      for (let i = 0; i < 30; i++) database.exec(insertSql)
    })
    const { frameSize, commits } = layoutOf(file)
    for (let i = 0; i < 20; i++) {
      const frame = 2 + random.below(commits.length - 2)
      const copy = copyOf(file)
      flip(`${copy}-wal`, 32 + (frame - 1) * frameSize + random.below(frameSize), 0)
      const state = inspectLog(copy)
      assert.equal(state.kind, 'damaged')
      const kept = state.kind === 'damaged' ? state.commits : 0
      // One commit created the table, so the table has one row less than there are commits.
      if (kept > 0) assert.equal(rowsIn(copy), kept - 1, `SEED=${seed}`)
    }
  })

  test('is not reported for a truncated log, which looks like a crash', () => {
    const file = randomLog()
    const { size } = statSync(`${file}-wal`)
    const { commits } = sound(inspectLog(file))
    for (let i = 0; i < 100; i++) {
      const copy = copyOf(file)
      truncateSync(`${copy}-wal`, random.below(size))
      const state = inspectLog(copy)
      assert.notEqual(state.kind, 'damaged', `SEED=${seed}`)
      assert(state.kind !== 'sound' || state.commits <= commits)
    }
  })

  test('is reported with no lost commits when the header of the database is damaged too', () => {
    const file = written((database) => database.exec(insertSql))
    flip(`${file}-wal`, 20, 0)
    assert.deepEqual(inspectLog(file), { kind: 'damaged', frame: 0, commits: 0, lost: 2 })
    truncateSync(file, 10)
    assert.deepEqual(inspectLog(file), { kind: 'damaged', frame: 0, commits: 0, lost: 0 })
  })
})
