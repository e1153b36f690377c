/** Random documents, filters, sorts and updates from small vocabularies, as plain JSON. */
import type { Random } from '../faults/random.ts'
import type { CollectionShape } from './collection-shape.ts'

export type Json = Readonly<Record<string, unknown>>

const kinds = ['novel', 'poem', 'play', 'essay', 'letter']
const tags = ['red', 'blue', 'green', 7, true, null]
export const words = ['ant', 'bee', 'cat', 'dog', 'eel', 'fox', 'gnu', 'hen', 'ibis', 'jay']
const letters = ['a', 'b', 'ab', 'abba', 'baa', 'bbb', 'aab']
const dates = [0, 1_600_000_000_000, 1_700_000_000_000, -86_400_000]
const uuids = [
  'c0ffee00-0000-4000-8000-000000000001',
  'c0ffee00-0000-4000-8000-000000000002',
]

export function times<T>(count: number, make: (position: number) => T): T[] {
  return Array.from({ length: count }, (_, position) => make(position))
}

/** The fields of a new document except _id; search fields last. */
export function randomFields(random: Random, shape: CollectionShape): Json {
  return {
    n: random.below(20),
    kind: random.pick(kinds),
    ...(!random.oneIn(4) && { tags: times(random.below(4), () => random.pick(tags)) }),
    ...(!random.oneIn(4) && {
      place: { shelf: random.below(50), row: random.oneIn(3) ? null : random.below(5) },
    }),
    ...(random.oneIn(2) && { flag: random.oneIn(2) }),
    ...(random.oneIn(2) && { price: random.below(1_000) / 10 }),
    ...(random.oneIn(3) && { when: { $date: random.pick(dates) } }),
    ...(random.oneIn(4) && { uid: { $uuid: random.pick(uuids) } }),
    ...(random.oneIn(3) && { note: random.pick(words) }),
    body: 'x'.repeat(bodyLength(random, shape)),
    ...searchFields(random, shape),
  }
}

/**
 * Length of the field `body`. If the field is not indexed, some values are long, so that they fill
 * the store's log and cause checkpoints.
 */
function bodyLength(random: Random, { deny }: CollectionShape): number {
  return deny?.includes('body') && random.oneIn(30) ? 30_000 : random.below(300)
}

function searchFields(random: Random, shape: CollectionShape): Json {
  return {
    ...(shape.vector && !random.oneIn(8) && vectorField(random, shape)),
    ...(shape.lexical && !random.oneIn(6) && { $lexical: randomText(random) }),
  }
}

function vectorField(random: Random, shape: CollectionShape): Json {
  if (shape.vectorize && !random.oneIn(4)) return { $vectorize: random.pick(letters) }
  return { $vector: randomVector(random, shape) }
}

/** A vector of numbers that 32-bit floats represent exactly. It is never a zero vector. */
export function randomVector(random: Random, { vector }: CollectionShape): number[] {
  const numbers = times(vector!.dimension, () => (random.below(33) - 16) / 8)
  return numbers.some((number) => number !== 0) ? numbers : numbers.map(() => 1)
}

export function randomText(random: Random): string {
  return times(1 + random.below(6), () => random.pick(words)).join(' ')
}

/** A filter on any field; `ids` are those of existing documents. */
export function randomFilter(random: Random, ids: readonly unknown[], depth = 0): Json {
  const n = random.below(20)
  const one = () => random.pick(kinds)
  return random.pick<() => Json>([
    () => ({}),
    () => ({ n }),
    () => ({ n: { $gt: n } }),
    () => ({ n: { $gte: n, $lt: n + 5 } }),
    () => ({ kind: { $in: [one(), one()] } }),
    () => ({ kind: { $nin: [one()] } }),
    () => ({ kind: { $ne: one() }, n: { $lte: n } }),
    () => ({ tags: random.pick(tags) }),
    () => ({ tags: { $all: ['red', random.pick(tags)] } }),
    () => ({ tags: { $size: random.below(4) } }),
    () => ({ 'tags.0': 'blue' }),
    () => ({ 'place.shelf': { $lte: random.below(50) } }),
    () => ({ 'place.row': null }),
    () => ({ flag: { $exists: random.oneIn(2) } }),
    () => ({ price: { $gt: random.below(100) } }),
    () => ({ when: { $gte: { $date: random.pick(dates) } } }),
    () => ({ uid: { $uuid: random.pick(uuids) } }),
    () => ({ _id: { $in: times(3, () => (ids.length ? random.pick(ids) : 'none')) } }),
    () => ({ $not: { kind: one(), flag: true } }),
    () =>
      depth > 1
        ? { kind: one() }
        : {
            [random.pick(['$and', '$or'])]: times(2, () =>
              withoutIds(randomFilter(random, ids, depth + 1)),
            ),
          },
  ])()
}

/**
 * Returns the filter, or another one if it compares _id, because _id is allowed only at the top
 * level.
 */
function withoutIds(filter: Json): Json {
  return '_id' in filter ? { n: { $gte: 10 } } : filter
}

export function randomSort(random: Random): Json {
  const first = random.pick(['n', 'kind', 'place.shelf', 'price', 'when', 'note'])
  // The second sort key, _id, breaks ties, so that the order is determined.
  return { [first]: random.pick([1, -1]), _id: random.pick([1, -1]) }
}

export function randomProjection(random: Random): Json | undefined {
  return random.pick([
    undefined,
    { '*': 1 },
    { '*': 1 },
    { n: 1, 'place.shelf': 1 },
    { body: 0, tags: 0 },
    { _id: 0, kind: 1, $vector: 1 },
    { tags: { $slice: 2 }, $lexical: 1 },
  ])
}

/** An update. Unless `isBold`, every document of the collection accepts it. */
export function randomUpdate(
  random: Random,
  shape: CollectionShape,
  { isBold }: { readonly isBold: boolean },
): Json {
  const n = random.below(20)
  const searched = searchUpdate(random, shape)
  return random.pick<() => Json>([
    () => ({ $set: { kind: random.pick(kinds), 'place.shelf': random.below(50) } }),
    () => ({ $set: { n, extra: { deep: [n, { er: null }] } } }),
    () => ({ $unset: { flag: '', note: '' }, $set: { n } }),
    () => ({ $inc: { n: 1, price: 0.1 } }),
    () => ({ $mul: { price: 2 } }),
    () => ({ $min: { n }, $max: { price: n } }),
    () => ({ $rename: { note: 'remark' } }),
    () => ({ $push: { tags: random.pick(tags) } }),
    () => ({ $push: { tags: { $each: [n, 'green'], $position: -1 } } }),
    () => ({ $addToSet: { tags: { $each: ['red', 'new'] } } }),
    () => ({ $pop: { tags: random.pick([1, -1]) } }),
    () => ({ $pull: { tags: random.pick(tags) } }),
    () => ({ $pull: { tags: { $in: ['red', n] } } }),
    () => ({ $pullAll: { tags: [n, 'green'] } }),
    () => ({ $setOnInsert: { made: true }, $inc: { n: -1 } }),
    () => ({}),
    ...(isBold ? [() => ({ $inc: { kind: 1 } }), () => ({ $push: { place: 1 } })] : []),
    ...(searched === undefined ? [] : [() => searched, () => searched, () => searched]),
  ])()
}

function searchUpdate(random: Random, shape: CollectionShape): Json | undefined {
  const changes: (() => Json)[] = []
  if (shape.vector)
    changes.push(
      () => ({ $set: vectorField(random, shape) }),
      () => ({ $unset: { $vector: '' }, $inc: { n: 1 } }),
    )
  if (shape.lexical)
    changes.push(
      () => ({ $set: { $lexical: randomText(random) } }),
      () => ({ $unset: { $lexical: '' } }),
    )
  return changes.length === 0 ? undefined : random.pick(changes)()
}
