import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WriteClock } from '../../../src/engine/cassandra/cluster/write-clock.ts'

/**
 * Whether a write clock agrees with Date.now() within 3 ms. The clock tolerates a difference of 2
 * ms, and Date.now() rounds to 1 ms.
 */
function isNow(read: () => number): boolean {
  const before = Date.now()
  const given = read() / 1_000
  return given >= before - 3 && given <= Date.now() + 3
}

function waitMicros(count: number): void {
  const until = performance.now() + count / 1_000
  while (performance.now() < until);
}

test('a write clock never returns the same time twice', () => {
  const clock = new WriteClock()
  let last = 0
  for (let i = 0; i < 10_000; i++) {
    const next = clock.next()
    assert(next > last)
    last = next
  }
})

for (const setBy of [0, 5_000])
  test(`times that two write clocks return in turn increase, with the system clock set forward by ${setBy} ms`, (t) => {
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

test('a write clock follows the system clock', () => {
  const clock = new WriteClock()
  const { now } = Date
  try {
    for (const hour of [1, -1]) {
      Date.now = () => now() + hour * 3_600_000
      // A clock never returns an earlier time. After the system clock is set back by an hour, the
      // old clock therefore stays ahead, and only a new clock returns the system time at once.
      const follows = () => isNow(() => (hour === 1 ? clock : new WriteClock()).next())
      // If the process is suspended during a reading, that comparison fails. So one success in 100
      // attempts suffices.
      assert(Array.from({ length: 100 }, follows).some(Boolean))
    }
  } finally {
    Date.now = now
  }
})
