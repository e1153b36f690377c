/** The schedule of reads: which reads run, wait and pause, and when. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  ReadSchedule,
  type Turn,
} from '../../../../src/engine/embedded/reader-threads/read-schedule.ts'

const connection = { one: {}, two: {}, three: {}, four: {} }

/**
 * At most two reads run at once, three long reads hold threads, and three reads of each principal
 * wait.
 */
const options = { runningMax: 2, longMax: 3, waitingMax: 3 }

/** A schedule that has its maximum number of threads. */
function schedule(changed: Partial<typeof options> = {}): ReadSchedule<string> {
  const reads = new ReadSchedule<string>({ ...options, ...changed })
  for (let i = 0; i < reads.threadsMax; i++) reads.addThread()
  return reads
}

const none: Turn<string> = { starts: [], resumes: [], pauses: [], putBacks: [] }

/**
 * Rotates the schedule until long reads hold as many threads as they may. Returns the reads that
 * hold a thread.
 */
function settle(reads: ReadSchedule<string>, running = new Set<string>()): Set<string> {
  const begun = new Set<string>()
  for (let i = 0; i < 200; i++) {
    const turn = reads.rotate()
    follow(running, turn)
    for (const read of turn.starts) begun.add(read)
    for (const read of turn.putBacks) {
      assert(reads.hasLeft(read))
      begun.delete(read)
    }
  }
  return begun
}

const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

describe(`a schedule of reads, seed ${seed}`, () => {
  test('starts as many reads as may run, in the order of arrival', () => {
    const reads = schedule()
    const a = { principalName: 'a', connection: connection.one }
    for (const read of ['1', '2', '3']) assert(reads.add(read, a))
    assert.deepEqual(reads.fill(), { ...none, starts: ['1', '2'] })
    assert.deepEqual(reads.fill(), none)
    assert.equal(reads.size, 3)
    reads.end('1')
    assert.deepEqual(reads.fill(), { ...none, starts: ['3'] })
    assert(!reads.isContended)
  })

  test('pauses a long read of a principal with two running reads for a principal with none', () => {
    const reads = schedule({ waitingMax: 100 })
    const hostile = { principalName: 'hostile', connection: connection.one }
    for (let i = 0; i < 24; i++) reads.add(`long ${i}`, hostile)
    assert.deepEqual(reads.fill().starts, ['long 0', 'long 1'])
    settle(reads)
    reads.add('short', { principalName: 'other', connection: connection.two })
    assert(reads.isContended)
    assert.deepEqual(reads.rotate(), { ...none, starts: ['short'], pauses: ['long 1'] })
    // The only running read of a principal is not paused, however many reads another principal has.
    for (let i = 0; i < 10; i++) {
      const { pauses, putBacks } = reads.rotate()
      assert(!pauses.includes('short'), `turn ${i}`)
      assert.deepEqual(putBacks, [])
    }
    reads.end('short')
    assert.equal(reads.fill().resumes.length, 1)
  })

  test('resumes a paused read while a new read of another connection waits for a thread to start', () => {
    for (const principalName of ['a', 'b']) {
      const reads = new ReadSchedule<string>(options)
      reads.addThread()
      reads.add('long', { principalName: 'a', connection: connection.one })
      assert.deepEqual(reads.fill().starts, ['long'])
      reads.add('new', { principalName, connection: connection.two })
      for (let i = 0; i < 5; i++) {
        const { starts, pauses } = reads.rotate()
        assert.deepEqual([starts, pauses], [[], []], `turn ${i}`)
      }
      assert(reads.wantsThread)
      reads.addThread()
      assert.deepEqual(reads.fill(), { ...none, starts: ['new'] })
    }
  })

  test('leaves no place free while a read is paused and no thread is about to become free', () => {
    const step = fc.oneof(
      fc.constantFrom('thread' as const, 'rotate' as const),
      fc.record({
        principal: fc.nat(1),
        connection: fc.constantFrom('one', 'two', 'three'),
      }),
      fc.record({ end: fc.nat() }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const reads = new ReadSchedule<string>({ ...options, waitingMax: 100 })
        reads.addThread()
        const running = new Set<string>()
        const paused = new Set<string>()
        const carryOut = (turn: Turn<string>) => {
          follow(running, turn)
          for (const read of turn.pauses) paused.add(read)
          for (const read of turn.resumes) paused.delete(read)
          for (const read of turn.putBacks) reads.hasLeft(read)
        }
        for (const [number, step] of steps.entries()) {
          if (step === 'thread') reads.addThread()
          else if (step === 'rotate') carryOut(reads.rotate())
          else if ('principal' in step)
            reads.add(`read ${number}`, {
              principalName: `${step.principal}`,
              connection: connection[step.connection as 'one'],
            })
          else {
            const ended = [...running][step.end % running.size]
            if (ended !== undefined) {
              running.delete(ended)
              reads.end(ended)
            }
          }
          carryOut(reads.fill())
          assert(running.size === options.runningMax || paused.size === 0)
        }
      }),
      { seed, numRuns: 2_000 },
    )
  })

  test('does not pause a new read before it has had two turns', () => {
    const reads = schedule()
    const a = { principalName: 'a', connection: connection.one }
    for (const read of ['1', '2', '3']) reads.add(read, a)
    reads.fill()
    reads.add('other', { principalName: 'b', connection: connection.one })
    assert.deepEqual(reads.rotate(), none)
    assert.deepEqual(reads.rotate(), { ...none, starts: ['other'], pauses: ['2'] })
  })

  test('does not count a turn of a read that its thread has not started yet', () => {
    const reads = schedule()
    const a = { principalName: 'a', connection: connection.one }
    for (const read of ['1', '2']) reads.add(read, a)
    reads.fill()
    reads.add('other', { principalName: 'b', connection: connection.one })
    for (let i = 0; i < 9; i++)
      assert.deepEqual(
        reads.rotate(() => false),
        none,
      )
    reads.rotate()
    assert.deepEqual(reads.rotate().starts, ['other'])
  })

  test('gives every principal the same number of turns', () => {
    const reads = schedule({ longMax: 7 })
    const running = new Set<string>()
    const turns = new Map<string, number>()
    for (const name of ['a', 'b', 'c', 'd'])
      reads.add(name, { principalName: name, connection: connection.one })
    settle(reads, running)
    for (let i = 0; i < 40; i++) {
      follow(running, reads.rotate())
      assert.equal(running.size, 2)
      for (const name of running) turns.set(name, (turns.get(name) ?? 0) + 1)
    }
    assert.deepEqual([...turns.values()], [20, 20, 20, 20])
  })

  test('takes turns among the connections of a principal', () => {
    const reads = schedule({ waitingMax: 100 })
    const many = { principalName: 'a', connection: connection.one }
    for (let i = 0; i < 24; i++) reads.add(`long ${i}`, many)
    reads.fill()
    settle(reads)
    reads.add('short', { principalName: 'a', connection: connection.two })
    assert.deepEqual(reads.rotate(), { ...none, starts: ['short'], pauses: ['long 1'] })
    reads.end('long 0')
    // Connections also take turns in starting their waiting reads.
    reads.add('second', { principalName: 'a', connection: connection.two })
    reads.add('third', { principalName: 'a', connection: connection.three })
    reads.end('short')
    reads.end('long 1')
    assert.deepEqual(reads.fill().starts.toSorted(), ['long 2', 'second'])
    reads.end('second')
    assert.deepEqual(reads.fill().starts, ['third'])
  })

  test('starts a new read of any principal within three turns, despite many long reads', () => {
    const reads = schedule({ waitingMax: 100 })
    const running = new Set<string>()
    for (const principalName of ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
      for (const line of Object.values(connection))
        reads.add(`${principalName} ${Math.random()}`, { principalName, connection: line })
    settle(reads, running)
    for (const principalName of ['a', 'g', 'h']) {
      reads.add('new', { principalName, connection: {} })
      let turns = 0
      for (let hasStarted = false; !hasStarted; turns++) {
        const turn = reads.rotate()
        follow(running, turn)
        hasStarted = turn.starts.includes('new')
        assert.deepEqual(turn.putBacks, [])
      }
      assert(turns <= 3, `${principalName}: ${turns}`)
      reads.end('new')
      running.delete('new')
    }
  })

  test('returns a read to the queue once when it becomes long and the limit of long reads is reached', () => {
    const reads = schedule({ waitingMax: 100 })
    for (const principalName of ['a', 'b', 'c'])
      reads.add(principalName, { principalName, connection: connection.one })
    settle(reads)
    reads.add('d', { principalName: 'd', connection: connection.one })
    const putBacks: string[] = []
    for (let i = 0; i < 9; i++) putBacks.push(...reads.rotate().putBacks)
    assert.deepEqual(putBacks, ['d'])
    // The read restarts only after its thread has left it and another long read has ended.
    reads.end('a')
    for (let i = 0; i < 9; i++) assert.deepEqual(reads.rotate().starts, [])
    assert(reads.hasLeft('d'))
    assert(!reads.hasLeft('d'))
    const starts: string[] = []
    for (let i = 0; i < 9; i++) {
      const turn = reads.rotate()
      starts.push(...turn.starts)
      assert.deepEqual(turn.putBacks, [])
    }
    assert.deepEqual(starts, ['d'])
  })

  test('forgets a read that ends after it was returned to the queue, whether aborted or not', () => {
    for (const isGivenUp of [true, false]) {
      const reads = schedule({ waitingMax: 1 })
      for (const principalName of ['a', 'b', 'c', 'd']) {
        reads.add(principalName, { principalName, connection: connection.one })
        reads.rotate()
      }
      const d = { principalName: 'd', connection: connection.one }
      for (let isPutBack = false; !isPutBack;)
        isPutBack = reads.rotate().putBacks.includes('d')
      // Read "d" counts as waiting, so no second read of its principal may wait.
      assert(!reads.add('second', d))
      if (isGivenUp) {
        assert(!reads.giveUp('d'))
        assert(!reads.hasLeft('d'))
      }
      reads.end('d')
      assert.equal(reads.size, 3)
      assert(reads.add('second', d))
      assert(!reads.add('third', d))
    }
  })

  test('starts a new read within its promised number of turns', () => {
    const asker = fc.record({
      principalName: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      connection: fc.constantFrom(...Object.values(connection)),
    })
    fc.assert(
      fc.property(
        fc.array(asker, { maxLength: 60 }),
        fc.array(asker, { maxLength: 20 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 4 }),
        (long, ahead, runningMax, spare) => {
          const longMax = runningMax + spare
          const reads = schedule({ runningMax, longMax, waitingMax: 100 })
          for (const [i, who] of long.entries()) reads.add(`long ${i}`, who)
          const begun = settle(reads)
          for (const [i, who] of ahead.entries()) reads.add(`new ${i}`, who)
          reads.add('mine', { principalName: 'a', connection: {} })
          // The bound ignores long reads without a thread. Such a read waits behind the long
          // reads of its connection that hold a thread.
          const first = [...long.filter((_, i) => begun.has(`long ${i}`)), ...ahead]
          const own = first.filter(({ principalName }) => principalName === 'a')
          const connections = new Set(own.map(({ connection: one }) => one)).size
          const names = first.map(({ principalName }) => principalName)
          const principals = new Set([...names, 'a']).size
          const bound = 3 + Math.ceil((3 * principals * (connections + 1)) / runningMax)
          let turns = 1
          for (; ; turns++) {
            const { starts, putBacks } = reads.rotate()
            if (starts.includes('mine')) break
            for (const read of putBacks) assert(reads.hasLeft(read))
            if (reads.fill().starts.includes('mine')) break
            assert(turns <= 1000, 'it never starts')
          }
          assert(turns <= bound, `${turns} turns, at most ${bound}`)
        },
      ),
    )
  })

  test('starts reads only on ready threads, and requests another thread when it is useful', () => {
    const reads = new ReadSchedule<string>(options)
    const a = { principalName: 'a', connection: connection.one }
    // The schedule requests its first thread before any read arrives.
    assert(reads.wantsThread)
    reads.add('1', a)
    assert.deepEqual(reads.fill(), none)
    reads.addThread()
    assert.deepEqual(reads.fill().starts, ['1'])
    assert(reads.wantsThread)
    reads.addThread()
    assert(!reads.wantsThread)
    reads.add('2', a)
    assert.deepEqual(reads.fill().starts, ['2'])
    assert(reads.wantsThread)
    for (const read of ['1', '2']) reads.end(read)
    assert(!reads.wantsThread)
  })

  test('keeps a thread free for new reads while there are few threads', () => {
    const reads = new ReadSchedule<string>({ ...options, waitingMax: 100 })
    for (let i = 0; i < 2; i++) reads.addThread()
    const hostile = { principalName: 'hostile', connection: connection.one }
    for (let i = 0; i < 24; i++) reads.add(`long ${i}`, hostile)
    const running = new Set<string>()
    settle(reads, running)
    assert.equal(running.size, 1)
    reads.add('short', { principalName: 'other', connection: connection.two })
    assert.deepEqual(reads.fill().starts, ['short'])
    reads.end('short')
    // With more threads, long reads may occupy all running slots.
    while (reads.wantsThread) {
      reads.addThread()
      settle(reads, running)
    }
    assert.equal(running.size, options.runningMax)
  })

  test('rejects a principal with too many waiting reads, and no other principal', () => {
    const reads = schedule()
    const a = { principalName: 'a', connection: connection.one }
    for (const read of ['1', '2', '3']) assert(reads.add(read, a))
    assert(!reads.add('4', a))
    assert(!reads.add('4', { ...a, connection: connection.two }))
    assert(reads.add('5', { principalName: 'b', connection: connection.one }))
    // Reads that started no longer count as waiting.
    reads.fill()
    assert(reads.add('6', a))
    assert.equal(reads.size, 5)
  })

  test('forgets an aborted read, at once if it has not started', () => {
    const reads = schedule()
    const a = { principalName: 'a', connection: connection.one }
    for (const read of ['1', '2', '3']) reads.add(read, a)
    reads.fill()
    assert(reads.giveUp('3'))
    assert.equal(reads.size, 2)
    assert(!reads.giveUp('1'))
    // Read 1 no longer counts as running, although its thread has not noticed the abort yet.
    reads.add('4', a)
    assert.deepEqual(reads.fill().starts, ['4'])
    assert.equal(reads.size, 3)
    assert.deepEqual(reads.rotate(), none)
    reads.end('1')
    assert.equal(reads.size, 2)
    reads.end('1')
    assert.equal(reads.size, 2)
  })

  test('never runs too many reads, holds too many threads, or forgets a read', () => {
    const step = fc.record({
      act: fc.constantFrom('add', 'end', 'giveUp', 'thread', 'fill', 'rotate', 'rotate'),
      principalName: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      line: fc.constantFrom(...Object.values(connection)),
      which: fc.nat(),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const reads = new ReadSchedule<string>(options)
        reads.addThread()
        let threads = 1
        const all: string[] = []
        const begun = new Set<string>()
        const running = new Set<string>()
        for (const [i, { act, principalName, line, which }] of steps.entries()) {
          const read = all[which % all.length]
          // If the read was put back, its thread leaves it now.
          if (read !== undefined && reads.hasLeft(read)) begun.delete(read)
          if (act === 'add') {
            if (reads.add(`${i}`, { principalName, connection: line })) all.push(`${i}`)
          } else if (act === 'thread') {
            if (!reads.wantsThread) continue
            reads.addThread()
            threads++
          } else if (act === 'end' || act === 'giveUp') {
            if (read === undefined) continue
            if (act === 'giveUp' && !reads.giveUp(read)) running.delete(read)
            if (act === 'giveUp' && begun.has(read)) continue
            if (act === 'end' && !begun.has(read)) continue
            reads.end(read)
            all.splice(all.indexOf(read), 1)
            begun.delete(read)
            running.delete(read)
          } else {
            const turn = act === 'fill' ? reads.fill() : reads.rotate()
            for (const started of turn.starts) begun.add(started)
            follow(running, turn)
            if (act === 'fill') assert.deepEqual(turn.pauses, [])
          }
          assert(running.size <= options.runningMax)
          assert(begun.size <= threads && threads <= reads.threadsMax)
          assert.equal(reads.size, all.length)
        }
        // After any sequence of events, all remaining reads end.
        for (let i = 0; all.length > 0; i++) {
          assert(i < 1000, 'a read never runs')
          const turn = reads.rotate()
          for (const started of turn.starts) begun.add(started)
          for (const read of all.filter((one) => begun.has(one))) {
            reads.end(read)
            begun.delete(read)
            all.splice(all.indexOf(read), 1)
          }
        }
        assert.equal(reads.size, 0)
        assert(!reads.isContended)
      }),
    )
  })
})

function follow(running: Set<string>, turn: Turn<string>): void {
  const { starts, resumes, pauses, putBacks } = turn
  for (const read of [...pauses, ...putBacks])
    assert(running.delete(read), `${read} should have run`)
  for (const read of [...starts, ...resumes]) {
    assert(!running.has(read), `${read} runs already`)
    running.add(read)
  }
}
