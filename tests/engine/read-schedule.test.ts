/** Whose reads run, and when. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ReadSchedule, type Turn } from '../../src/engine/embedded/read-schedule.ts'

const connection = { one: {}, two: {}, three: {}, four: {} }

/** Two may run, on five threads, and three of a principal may wait. */
const options = { runningMax: 2, threads: 5, waitingMax: 3 }

function schedule(changed: Partial<typeof options> = {}): ReadSchedule<string> {
  return new ReadSchedule({ ...options, ...changed })
}

const none: Turn<string> = { starts: [], resumes: [], pauses: [] }

describe('a schedule of reads', () => {
  test('starts as many as may run, in the order of arrival', () => {
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

  test('pauses a read of a principal who has two for one who has none', () => {
    const reads = schedule({ waitingMax: 100 })
    const hostile = { principalName: 'hostile', connection: connection.one }
    for (let i = 0; i < 24; i++) reads.add(`long ${i}`, hostile)
    assert.deepEqual(reads.fill().starts, ['long 0', 'long 1'])
    reads.add('short', { principalName: 'other', connection: connection.two })
    assert(reads.isContended)
    assert.deepEqual(reads.rotate(), { ...none, starts: ['short'], pauses: ['long 1'] })
    // Its turn does not end while it runs, however many reads the other has.
    for (let i = 0; i < 10; i++) {
      const { pauses } = reads.rotate()
      assert(!pauses.includes('short'), `turn ${i}`)
    }
    reads.end('short')
    assert.equal(reads.fill().resumes.length, 1)
  })

  test('gives every principal the same number of turns', () => {
    const reads = schedule({ threads: 9 })
    const running = new Set<string>()
    const turns = new Map<string, number>()
    for (const name of ['a', 'b', 'c', 'd'])
      reads.add(name, { principalName: name, connection: connection.one })
    for (let i = 0; i < 40; i++) {
      follow(running, reads.rotate())
      assert.equal(running.size, 2)
      for (const name of running) turns.set(name, (turns.get(name) ?? 0) + 1)
    }
    assert.deepEqual([...turns.values()], [20, 20, 20, 20])
  })

  test('takes turns among the connections of a principal, too', () => {
    const reads = schedule({ waitingMax: 100 })
    const many = { principalName: 'a', connection: connection.one }
    for (let i = 0; i < 24; i++) reads.add(`long ${i}`, many)
    reads.fill()
    reads.add('short', { principalName: 'a', connection: connection.two })
    assert.deepEqual(reads.rotate(), {
      starts: ['short'],
      resumes: [],
      pauses: ['long 1'],
    })
    reads.end('long 0')
    // Among those that have not begun, connections come in turn as well.
    reads.add('second', { principalName: 'a', connection: connection.two })
    reads.add('third', { principalName: 'a', connection: connection.three })
    reads.end('short')
    reads.end('long 1')
    assert.deepEqual(reads.fill().starts.toSorted(), ['long 2', 'second'])
    reads.end('second')
    assert.deepEqual(reads.fill().starts, ['third'])
  })

  test('leaves threads for principals who have none', () => {
    const reads = schedule({ waitingMax: 100 })
    const running = new Set<string>()
    for (const [i, line] of Object.values(connection).entries())
      for (let j = 0; j < 9; j++)
        reads.add(`a ${i} ${j}`, { principalName: 'a', connection: line })
    const begun = new Set<string>()
    for (let i = 0; i < 50; i++) {
      const turn = reads.rotate()
      follow(running, turn)
      for (const read of turn.starts) begun.add(read)
    }
    assert.equal(begun.size, 3)
    for (const principalName of ['b', 'c']) {
      reads.add(principalName, { principalName, connection: connection.one })
      // The turn after the next at the latest.
      const turns = [reads.rotate(), reads.rotate()]
      for (const turn of turns) follow(running, turn)
      assert.deepEqual(
        turns.flatMap(({ starts }) => starts),
        [principalName],
      )
    }
    // All threads are held: the next has to wait until a read ends.
    reads.add('d', { principalName: 'd', connection: connection.one })
    for (let i = 0; i < 9; i++) assert.deepEqual(reads.rotate().starts, [])
    reads.end('b')
    const turns = [reads.rotate(), reads.rotate()]
    assert.deepEqual(
      turns.flatMap(({ starts }) => starts),
      ['d'],
    )
  })

  test('refuses a principal who has too many waiting, and nobody else', () => {
    const reads = schedule()
    const a = { principalName: 'a', connection: connection.one }
    for (const read of ['1', '2', '3']) assert(reads.add(read, a))
    assert(!reads.add('4', a))
    assert(!reads.add('4', { ...a, connection: connection.two }))
    assert(reads.add('5', { principalName: 'b', connection: connection.one }))
    // What has begun waits no more.
    reads.fill()
    assert(reads.add('6', a))
    assert.equal(reads.size, 5)
  })

  test('forgets a read that is given up, at once if it has not begun', () => {
    const reads = schedule()
    const a = { principalName: 'a', connection: connection.one }
    for (const read of ['1', '2', '3']) reads.add(read, a)
    reads.fill()
    assert(reads.giveUp('3'))
    assert.equal(reads.size, 2)
    assert(!reads.giveUp('1'))
    // Its thread has not noticed, but it does not count as one that runs.
    reads.add('4', a)
    assert.deepEqual(reads.fill().starts, ['4'])
    assert.equal(reads.size, 3)
    assert.deepEqual(reads.rotate(), none)
    reads.end('1')
    assert.equal(reads.size, 2)
    reads.end('1')
    assert.equal(reads.size, 2)
  })

  test('never runs too many, holds too many threads, or forgets one', () => {
    const step = fc.record({
      act: fc.constantFrom('add', 'end', 'giveUp', 'fill', 'rotate', 'rotate'),
      principalName: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      line: fc.constantFrom(...Object.values(connection)),
      which: fc.nat(),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const reads = schedule()
        const all: string[] = []
        const begun = new Set<string>()
        const running = new Set<string>()
        for (const [i, { act, principalName, line, which }] of steps.entries()) {
          const read = all[which % all.length]
          if (act === 'add') {
            if (reads.add(`${i}`, { principalName, connection: line })) all.push(`${i}`)
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
          assert(begun.size <= options.threads)
          assert.equal(reads.size, all.length)
        }
        // Whatever happened, all that is left comes to its end.
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

function follow(running: Set<string>, { starts, resumes, pauses }: Turn<string>): void {
  for (const read of pauses) assert(running.delete(read), `${read} should have run`)
  for (const read of [...starts, ...resumes]) {
    assert(!running.has(read), `${read} runs already`)
    running.add(read)
  }
}
