/**
 * Sorted finds of documents that share a value with many others, compared with a sorted array. The
 * engine walks the index in sort order and skips documents that do not match.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Filter } from '../../../../src/language/filters/filter.ts'
import { Random, seed } from '../../../model/random.ts'
import { openEmbedded } from '../embedded-store.ts'
import { by, Store, where } from '../../store.ts'

// A small memtable, which is flushed often, so that there are many runs on several levels.
process.env['STELA_TEST_MEMTABLE'] = '500'

interface Plain {
  readonly _id: number
  readonly city: number
  readonly tags: readonly number[]
  readonly [field: string]: number | readonly number[]
}

/** A document; many documents share each value of `city` and `tags`. */
function documentOf(_id: number, random: Random): Plain {
  const city = random.pick([0, 0, 0, 1, 2, 3, 4])
  return {
    ...{ _id, city, tags: random.list(0, 3, () => random.integer(0, 5)) },
    unique: random.integer(0, 1_000_000),
    few: random.integer(0, 20),
    // Half of the documents share the value 500. The other half have mostly different values.
    mostly: random.chance(0.5) ? 500 : random.integer(0, 1_000),
    // In a sort by this field, the documents of a city are adjacent.
    byCity: city * 10_000 + random.integer(0, 9_999),
  }
}

type Asked = readonly [filter: Filter, matches: (document: Plain) => boolean]

function filterOf(random: Random): Asked {
  const city = random.integer(0, 5)
  const other = random.integer(0, 5)
  const tag = random.integer(0, 6)
  const inCity = where('city', 'eq', city)
  const hasTag = where('tags', 'eq', tag)
  const both: Filter = { kind: 'and', of: [inCity, hasTag] }
  const either: Filter = { kind: 'or', of: [where('city', 'eq', other), hasTag] }
  return random.pick<Asked>([
    [inCity, (document) => document.city === city],
    [hasTag, ({ tags }) => tags.includes(tag)],
    [both, (document) => document.city === city && document.tags.includes(tag)],
    [either, (document) => document.city === other || document.tags.includes(tag)],
    [
      { kind: 'and', of: [inCity, where('unique', 'gt', 500_000)] },
      (document) => document.city === city && (document['unique'] as number) > 500_000,
    ],
  ])
}

test(`sorted finds agree with a sorted array, seed ${seed}`, async (context) => {
  const random = new Random(seed)
  const { engine } = await openEmbedded(context)
  const store = await Store.create(engine, 'sorted')
  let plain: Plain[] = []
  const insert = async (count: number): Promise<void> => {
    const first = (plain.at(-1)?._id ?? 0) + 1
    const documents = Array.from({ length: count }, (_, i) => documentOf(first + i, random))
    const outcomes = await store.insert(documents)
    assert(outcomes.every((outcome) => outcome === 'done'))
    plain.push(...documents)
  }
  /** Replaces and deletes random documents, which adds tombstones to the index. */
  const change = async (): Promise<void> => {
    const chosen = new Set(random.list(0, 40, () => random.pick(plain)))
    for (const document of chosen) {
      const before = await store.one(document._id)
      const next = random.chance(0.7) ? documentOf(document._id, random) : undefined
      const outcome =
        next === undefined ? await store.delete(before) : await store.replace(before, next)
      assert.equal(outcome, 'done')
      plain = plain.flatMap((one) => (one === document ? (next ?? []) : one))
    }
  }
  for (let i = 0; i < 10; i++) await insert(300)
  for (let round = 0; round < 60; round++) {
    const [filter, matches] = filterOf(random)
    const fields = ['unique', 'few', 'mostly', 'byCity']
    const sort = by(
      ...new Set(random.list(1, 2, () => random.pick(['', '-']) + random.pick(fields))),
    )
    const order = (a: Plain, b: Plain): number => {
      for (const { path, direction } of sort) {
        const [one, other] = [a[path.text] as number, b[path.text] as number]
        if (one !== other) return (one - other) * direction
      }
      return a._id - b._id
    }
    const skip = random.pick([0, 0, 7])
    const limit = random.pick([20, 130])
    const expected = plain
      .filter(matches)
      .sort(order)
      .slice(skip, skip + limit)
    const pageSize = random.pick([1, 6, 20, 50])
    const found = await store.ids({ filter, sort, skip, limit }, pageSize)
    assert.deepEqual(
      found,
      expected.map(({ _id }) => _id),
      `round ${round}: ${JSON.stringify({ filter, sort, skip, limit, pageSize })}`,
    )
    await change()
    await insert(random.integer(1, 60))
  }
})
