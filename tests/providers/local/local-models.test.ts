import assert from 'node:assert/strict'
import { ownCaller } from '../../../src/caller/caller.ts'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { Worker } from 'node:worker_threads'
import {
  findLocalModels,
  localEmbedding,
  type LocalModelSettings,
} from '../../../src/providers/local/local-models.ts'

const source = new URL('../../../src/', import.meta.url)
const never = ownCaller()

/** Passages on different topics. Each has a query that uses other words than the passage. */
const cases = [
  {
    passage:
      'Sourdough rises slowly because wild yeast needs many hours to ferment the flour and water.',
    query: 'why does homemade bread dough take so long to puff up',
  },
  {
    passage:
      'The spacecraft entered orbit around Mars and sent back pictures of dried river beds.',
    query: 'probe photographing the red planet',
  },
  {
    passage:
      'Interest on the mortgage is fixed for five years, after which the bank sets a new rate.',
    query: 'how much do I pay for a home loan',
  },
  {
    passage:
      'A vaccine trains the immune system by showing it a harmless piece of the virus.',
    query: 'protecting the body against infectious disease',
  },
  {
    passage: 'The goalkeeper saved two penalties and the home side won the cup final.',
    query: 'football match decided by a shoot-out',
  },
  {
    passage: 'Bees visit blossoms for nectar and carry pollen from one flower to the next.',
    query: 'insects that fertilise plants',
  },
  {
    passage:
      'The violinist tuned her instrument before the orchestra began the second symphony.',
    query: 'classical music concert',
  },
  {
    passage: 'When a process runs out of memory, the kernel picks a victim and kills it.',
    query: 'operating system terminates a program that uses too much RAM',
  },
  {
    passage:
      'Glaciers in the Alps have lost a third of their ice since the beginning of the century.',
    query: 'global warming melts mountain snow',
  },
  {
    passage:
      'The court ruled that the contract was void because one party had been deceived.',
    query: 'judge cancels an agreement made by fraud',
  },
]
const passages = cases.map(({ passage }) => passage)

function open(log: LocalModelSettings['log'] = () => undefined) {
  return findLocalModels({ threads: 1, log })!
}

function cosine(a: Float32Array, b: Float32Array): number {
  // The vectors of the model have length 1, so their dot product is the cosine.
  return a.reduce((sum, number, i) => sum + number * b[i]!, 0)
}

function bestOf(scores: readonly number[]): number {
  return scores.indexOf(Math.max(...scores))
}

function longText(seed: number): string {
  return Array.from({ length: 300 }, (_, i) => `word${(seed * 7 + i) % 97}`).join(' ')
}

const installed = findLocalModels({ threads: 1, log: () => undefined }) !== undefined

describe(
  'local models',
  { skip: installed ? false : 'optional packages are absent' },
  () => {
    const models = open()
    after(() => models.close())

    test('give the published vector of the model', async () => {
      const [vector] = await models.embed(['hello world'], never)
      assert.equal(vector!.length, localEmbedding.dimension)
      // The publisher of the model computed these numbers with another runtime.
      const known = [-0.034489218, 0.031110115, 0.006719178, 0.026104076]
      for (const [i, number] of known.entries())
        assert.ok(Math.abs(vector![i]! - number) < 1e-5, `${vector![i]} is not ${number}`)
      assert.ok(Math.abs(cosine(vector!, vector!) - 1) < 1e-5)
    })

    test('give texts the same vectors alone and in a batch', async () => {
      const texts = [
        'short',
        longText(1),
        ...passages,
        '',
        'Ünïcödé 日本語 😀',
        longText(2),
      ]
      const together = await models.embed(texts, never)
      assert.equal(together.length, texts.length)
      for (const [i, text] of texts.entries()) {
        const [alone] = await models.embed([text], never)
        assert.ok(cosine(alone!, together[i]!) > 0.99999, JSON.stringify(text.slice(0, 40)))
      }
    })

    test('use the first 256 tokens of a text', async () => {
      const start = Array.from({ length: 254 }, () => 'river').join(' ')
      const [one, same, other] = await models.embed(
        [start, `${start} mountain castle`, `mountain ${start}`],
        never,
      )
      assert.ok(cosine(one!, same!) > 0.99999)
      assert.ok(cosine(one!, other!) < 0.9999)
    })

    test('find a passage with the meaning of a query in other words', async () => {
      const stored = await models.embed(passages, never)
      const right = await Promise.all(
        cases.map(async ({ query }, i) => {
          const [vector] = await models.embed([query], never)
          return bestOf(stored.map((one) => cosine(vector!, one))) === i
        }),
      )
      assert.ok(right.filter(Boolean).length >= 9, String(right))
    })

    test('rank the passage that fits a query first', async () => {
      const right = await Promise.all(
        cases.map(async ({ query }, i) => {
          const scores = await models.rerank(query, passages, never)
          return bestOf(scores) === i
        }),
      )
      assert.ok(right.filter(Boolean).length >= 9, String(right))
    })

    test('score a passage independently of other passages', async () => {
      const { query } = cases[0]!
      const together = await models.rerank(query, [...passages, passages[3]!], never)
      // Opens the model again, because the first instance has cached its results.
      const fresh = open()
      for (const [i, passage] of passages.slice(0, 3).entries()) {
        const [alone] = await fresh.rerank(query, [passage], never)
        assert.equal(alone, together[i])
      }
      await fresh.close()
      assert.equal(together[3], together.at(-1))
      for (const score of together) assert.ok(score > -0.2 && score < 1)
    })

    test('return an empty list for an empty list', async () => {
      assert.deepEqual(await models.embed([], never), [])
      assert.deepEqual(await models.rerank('query', [], never), [])
    })

    test('return vectors that the caller may change', async () => {
      const [first] = await models.embed(['to be changed'], never)
      const kept = first!.slice()
      first!.fill(0)
      const [second] = await models.embed(['to be changed'], never)
      assert.deepEqual(second, kept)
    })

    test('answer a short request before a long request that was sent earlier', async () => {
      const order: string[] = []
      const many = Array.from({ length: 12 }, (_, i) => longText(i))
      await Promise.all([
        models.embed(many, never).then(() => order.push('long')),
        models.embed(['a short question'], never).then(() => order.push('short')),
      ])
      assert.deepEqual(order, ['short', 'long'])
    })

    test('answer a request of one principal before most earlier requests of another', async () => {
      const order: string[] = []
      const questions = Array.from({ length: 12 }, (_, i) =>
        models
          .embed([longText(100 + i)], { ...never, principalName: 'many' })
          .then(() => order.push('many')),
      )
      const other = { ...never, principalName: 'other' }
      const asked = models.embed([longText(200)], other).then(() => order.push('other'))
      await Promise.all([...questions, asked])
      // A request takes two slices: one for tokenizing, and one for running the model. So at most
      // three requests of "many" end before the request of "other".
      assert(order.indexOf('other') <= 3, order.join(' '))
    })

    test('drop aborted requests', async () => {
      const giveUp = new AbortController()
      const many = Array.from({ length: 200 }, (_, i) => longText(i))
      const dropped = models.embed(many, ownCaller(giveUp.signal))
      giveUp.abort(new Error('nobody waits'))
      await assert.rejects(dropped, /nobody waits/)
      await assert.rejects(models.embed(['late'], ownCaller(giveUp.signal)), /nobody waits/)
      await models.embed(['and go on'], never)
    })

    test('report a crash, and start again with the next request', async () => {
      const logged: string[] = []
      const broken = open((level, message) => logged.push(`${level}: ${message}`))
      process.once('worker', (worker: Worker) => void worker.terminate())
      await assert.rejects(
        broken.embed(['lost'], never),
        /"local" failed .*the local model failed; it restarts with the next request/,
      )
      assert.match(logged[0]!, /^error: The local model failed/)
      const [vector] = await broken.embed(['found'], never)
      assert.equal(vector!.length, localEmbedding.dimension)
      assert.match(
        logged[1]!,
        /^info: Loaded the local model in \d+ ms: embedding, built in$/,
      )
      await broken.close()
    })

    test('answer no requests after they are closed', async () => {
      const closing = open()
      const waiting = closing.embed([longText(1), longText(2)], never)
      const refused = assert.rejects(waiting, /the server is shutting down/)
      await closing.close()
      await refused
      await assert.rejects(closing.embed(['late'], never), /the server is shutting down/)
      await closing.close()
    })

    test('let a process exit during their work', async () => {
      await runNode(`
      const { findLocalModels } = await import('${scriptIn(source)}')
      const models = findLocalModels({ threads: 1, log: exitSoon })
      const texts = Array.from({ length: 50 }, (_, i) => 'long '.repeat(250) + i)
      models.embed(texts, { principalName: '', signal: new AbortController().signal })
      // Loading is logged; from then on the model is busy.
      function exitSoon() {
        setTimeout(() => process.exit(0), 100)
      }
    `)
    })
  },
)

describe('without the optional packages', () => {
  test('there are no local models', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'stela-source-'))
    try {
      await cp(fileURLToPath(source), elsewhere, { recursive: true })
      const { stdout } = await runNode(`
        const { findLocalModels } = await import('${scriptIn(pathToFileURL(`${elsewhere}/`))}')
        console.log(findLocalModels({ threads: 1, log: () => {} }))
      `)
      assert.equal(stdout, 'undefined\n')
    } finally {
      await rm(elsewhere, { recursive: true })
    }
  })
})

function scriptIn(source: URL): string {
  return new URL('providers/local/local-models.ts', source).href
}

/** Runs code in a child process. Fails if the process exits with another code than 0. */
function runNode(code: string): Promise<{ stdout: string }> {
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', code]
  return promisify(execFile)(process.execPath, args)
}
