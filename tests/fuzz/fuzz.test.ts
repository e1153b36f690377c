/**
 * The corpus, and a short run of the fuzzer. `npm run fuzz` runs the fuzzer for a given
 * time.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { killLeftovers } from '../faults/server-process.ts'
import { unwrittenCommands } from './commands.ts'
import { readCorpus } from './corpus.ts'
import { fuzz } from './fuzzer.ts'
import { showInput, type CommandInput } from './input.ts'
import { Prober } from './prober.ts'
import { World } from './world.ts'

const corpus = readCorpus()

describe('every reply to an input of the corpus is correct', () => {
  let prober: Prober
  before(async () => {
    prober = new Prober(await World.start())
  })
  after(async () => {
    prober.close()
    const wrong = await prober.world.stop()
    await killLeftovers()
    assert.equal(wrong, undefined)
  })

  for (const { name, why, before: first, input } of corpus)
    test(`${name}: ${why}`, async () => {
      for (const sent of [...first, input])
        assert.deepEqual(await prober.probe(sent), undefined)
      assert.equal(prober.world.complaints(), '')
      assert.equal(await prober.world.control(), undefined)
    })
})

describe('generated inputs', () => {
  test('include every command', () => {
    assert.deepEqual(unwrittenCommands(), [])
  })

  test('get only replies that satisfy all invariants', async (t) => {
    const sound = corpus
      .map(({ input }) => input)
      .filter((input): input is CommandInput => input.kind === 'command')
    const report = await fuzz({
      seed: 20_261_115,
      corpus: sound.filter((input) => 'tree' in input),
      isOver: (requests) => requests >= 1_000,
      tell: (text) => t.diagnostic(text),
    })
    assert.deepEqual(
      report.findings.map(({ kind, detail, input }) => [kind, detail, showInput(input)]),
      [],
    )
    t.diagnostic(`${report.requests} requests, ${report.codes.size} error codes`)
  })
})
