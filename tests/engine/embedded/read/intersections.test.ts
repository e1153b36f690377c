/**
 * Conjunctions and disjunctions of values, ranges and $exists, compared with a filtered array. The
 * engine lists the documents of values and ranges, and intersects or unites the lists.
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
  readonly [field: string]: number | readonly number[]
}

/**
 * A document; `list` is a number or an array, and few documents have `rare`. Most documents have equal
 * values of `city` and `zone`, so that more documents match than the planner expects.
 */
function documentOf(_id: number, random: Random): Plain {
  const city = random.integer(0, 8)
  const list = random.list(0, 3, () => random.integer(0, 30))
  return {
    ...{ _id, city, zone: random.chance(0.8) ? city : 0, age: random.integer(0, 60) },
    score: random.integer(0, 1_000),
    list: random.chance(0.5) ? random.integer(0, 30) : list,
    ...(random.chance(0.02) && { rare: random.integer(0, 3) }),
  }
}

type Part = readonly [filter: Filter, matches: (document: Plain) => boolean]

function isNumberIn(document: Plain, field: string, low: number, high: number): boolean {
  const value = document[field]
  return typeof value === 'number' && value >= low && value < high
}

/** A range; its bounds are two conditions, in either order. */
function rangeOf(random: Random): Part {
  const field = random.pick(['age', 'score', 'list'])
  const most = field === 'score' ? 1_000 : 60
  const low = random.integer(0, most)
  const high = low + random.integer(0, Math.ceil(most / random.pick([2, 10, 50])))
  const bounds = [where(field, 'gte', low), where(field, 'lt', high)]
  const of = random.chance(0.5) ? bounds : bounds.toReversed()
  return [{ kind: 'and', of }, (document) => isNumberIn(document, field, low, high)]
}

function partOf(random: Random): Part {
  const value = random.integer(0, 8)
  const path = where('rare', 'eq', 0)
  return random.pick<() => Part>([
    () => [where('city', 'eq', value), ({ city }) => city === value],
    () => [where('city', 'ne', value), ({ city }) => city !== value],
    () => [
      where('list', 'eq', value),
      ({ list }) => (typeof list === 'number' ? list === value : list!.includes(value)),
    ],
    () => [
      where('age', 'gt', 55 + (value % 5)),
      ({ age }) => (age as number) > 55 + (value % 5),
    ],
    () => [
      { ...path, kind: 'exists', exists: true } as Filter,
      ({ rare }) => rare !== undefined,
    ],
    () => [
      { ...path, kind: 'exists', exists: false } as Filter,
      ({ rare }) => rare === undefined,
    ],
    () => [
      { kind: 'and', of: [where('city', 'eq', value), where('zone', 'eq', value)] },
      ({ city, zone }) => city === value && zone === value,
    ],
    () => rangeOf(random),
    () => rangeOf(random),
    () => rangeOf(random),
  ])()
}

function filterOf(random: Random): Part {
  const parts = random.list(1, 4, () =>
    random.chance(0.25) ? eitherOf(random) : partOf(random),
  )
  const of = parts.map(([filter]) => filter)
  return [
    { kind: 'and', of },
    (document) => parts.every(([, matches]) => matches(document)),
  ]
}

function eitherOf(random: Random): Part {
  const parts = random.list(2, 3, () => partOf(random))
  const of = parts.map(([filter]) => filter)
  return [{ kind: 'or', of }, (document) => parts.some(([, matches]) => matches(document))]
}

test(`intersected reads agree with a filtered array, seed ${seed}`, async (context) => {
  const random = new Random(seed)
  const { engine } = await openEmbedded(context)
  const store = await Store.create(engine, 'intersected')
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
    const chosen = new Set(random.list(0, 20, () => random.pick(plain)))
    for (const document of chosen) {
      const before = await store.one(document._id)
      const next = random.chance(0.7) ? documentOf(document._id, random) : undefined
      const outcome =
        next === undefined ? await store.delete(before) : await store.replace(before, next)
      assert.equal(outcome, 'done')
      plain = plain.flatMap((one) => (one === document ? (next ?? []) : one))
    }
  }
  for (let i = 0; i < 10; i++) await insert(400)
  for (let round = 0; round < 120; round++) {
    const [filter, matches] = filterOf(random)
    const sort = by(...random.pick([[], ['score'], ['-age'], ['_id']]))
    const limit = random.pick([20, 5_000])
    const pageSize = random.pick([3, 20, 60, 1_000])
    const asked = `round ${round}: ${JSON.stringify({ filter, sort, limit, pageSize })}`
    const found = await store.ids({ filter, sort, skip: 0, limit }, pageSize)
    const expected = plain.filter(matches)
    if (sort.length === 0) {
      assert.equal(found.length, Math.min(limit, expected.length), asked)
      const all = new Set<unknown>(expected.map(({ _id }) => _id))
      assert(
        new Set(found).size === found.length && found.every((id) => all.has(id)),
        asked,
      )
    } else {
      const [{ path, direction }] = sort as [(typeof sort)[number]]
      const valueOf = (document: Plain) => document[path.text] as number
      expected.sort((a, b) => (valueOf(a) - valueOf(b)) * direction || a._id - b._id)
      const ids = expected.map(({ _id }) => _id).slice(0, limit)
      assert.deepEqual(found, ids, asked)
    }
    assert.equal(await store.count(filter), expected.length, asked)
    if (random.chance(0.5)) await change()
    if (random.chance(0.5)) await insert(random.integer(1, 60))
  }
})
