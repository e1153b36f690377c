import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WriteClock } from '../../../src/engine/cassandra/cluster/write-clock.ts'

/** As far as the two clocks of a machine agree, and however long it takes to look at them. */
function isNow(read: () => number): boolean {
  const before = Date.now()
  const given = read() / 1_000
  return given >= before - 3 && given <= Date.now() + 3
}

function waitMicros(count: number): void {
  const until = performance.now() + count / 1_000
  while (performance.now() < until);
}

test('a clock never gives the same twice', () => {
  const clock = new WriteClock()
  let last = 0
  for (let i = 0; i < 10_000; i++) {
    const next = clock.next()
    assert(next > last)
    last = next
  }
})

for (const setBy of [0, 5_000])
  test(`what one server writes after another is later, within a millisecond, too, with a clock set by ${setBy} ms`, (t) => {
    const { now } = Date
    t.mock.method(Date, 'now', () => now() + setBy)
    const clocks = [new WriteClock(), new WriteClock()]
    let last = 0
    for (let i = 0; i < 2_000; i++) {
      waitMicros(20)
      const next = clocks[i % 2]!.next()
      assert(next > last, `${next} comes after ${last}`)
      last = next
    }
  })

test('a clock follows that of the machine', () => {
  const clock = new WriteClock()
  const { now } = Date
  try {
    for (const hour of [1, -1]) {
      Date.now = () => now() + hour * 3_600_000
      // It never goes back, so only the first is there at once.
      const follows = () => isNow(() => (hour === 1 ? clock : new WriteClock()).next())
      // One that was kept waiting in the middle of it follows with the next.
      assert(Array.from({ length: 100 }, follows).some(Boolean))
    }
  } finally {
    Date.now = now
  }
})
