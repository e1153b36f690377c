/**
 * A process that runs out of file handles. It opens a data folder. Then, for each number from 0 to
 * 7, it leaves only this number of handles free, and inserts into and reads a new collection.
 * Prints the outcomes.
 */
import { closeSync } from 'node:fs'
import { openEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import { messageOf } from '../../src/errors/reason.ts'
import { Store } from '../engine/store.ts'
import { takeHandles } from './take-handles.ts'

const dataDir = process.argv[2]!
const engine = await openEmbeddedEngine({ dataDir, durable: true, log: () => undefined })
// These reads start all reader threads, which need file handles too.
const first = await Store.create(engine, 'first')
await first.insert([{ _id: 1 }])
await Promise.all(Array.from({ length: 100 }, () => first.find()))
const met: string[] = []
for (let left = 0; left < 8; left++) {
  const store = await Store.create(engine, `c${left}`)
  for (const act of [() => store.insert([{ _id: 1 }]), () => store.find()]) {
    const taken = takeHandles(left)
    await act().then(
      () => met.push('done'),
      (error: unknown) => met.push(messageOf(error)),
    )
    taken.forEach(closeSync)
  }
}
await engine.close()
console.log(JSON.stringify(met))
