/** Hostile commands on tables. */
import { type Choices, fields, numbers } from './choices.ts'
import { commandTo, type RequestLoad } from './load.ts'
import { keyspace } from './targets.ts'

/** Filters on lists, sets and maps. */
export function rowFilters(choices: Choices): RequestLoad {
  const target = choices.pick(['cells', 'cells', 'lines'])
  const command = choices.pick(['find', 'find', 'findOne'])
  const comparisons = choices.size(1, 63)
  const values = choices.size(1, 100)
  const operators = choices.some(['$in', '$nin', '$all'], 2)
  const from = choices.pick([0, 10_000_000])
  const isNegated = choices.oneIn(4)
  const condition = () => {
    const column = choices.pick(['l', 'l', 's', 'm', '$keys', '$values'])
    const operator = choices.pick(operators)
    const ints = numbers(values, from + choices.random.below(1_000))
    switch (column) {
      case 'm':
        return { m: { [operator]: ints.map((n) => [`k${n}`, n]) } }
      case '$keys':
        return { m: { $keys: { [operator]: ints.map((n) => `k${n}`) } } }
      case '$values':
        return { m: { $values: { [operator]: ints } } }
      default:
        return { [column]: { [operator]: ints } }
    }
  }
  const conditions = Array.from({ length: comparisons }, condition)
  const filter = isNegated
    ? { $not: { $or: conditions } }
    : { [choices.pick(['$and', '$or'])]: conditions }
  return {
    says: `${command} on ${target}, ${comparisons} comparisons (${operators.join(', ')}) of ${values} values from ${from}${isNegated ? ', $not' : ''}`,
    requests: [commandTo(`${keyspace}/${target}`, { [command]: { filter } }, 'reader')],
  }
}

export function rowSorts(choices: Choices): RequestLoad {
  const target = choices.pick(['cells', 'lines'])
  const sort = choices.pick<object>([
    { t: 1 },
    { n: -1, t: 1 },
    { v: numbers(64).map((n) => n + 1) },
    { t: 1, id: -1, n: 1 },
  ])
  const projection = choices.pick<object>([
    {},
    { id: 1 },
    { l: 0, s: 0, m: 0 },
    fields(choices.size(1, 9_000), () => 1, 'absent'),
  ])
  const options = choices.pick<object>([{}, { limit: 1_000 }, { skip: 100_000 }])
  return {
    says: `find on ${target}, sort ${JSON.stringify(sort).slice(0, 40)}, ${JSON.stringify(options)}`,
    requests: [
      commandTo(
        `${keyspace}/${target}`,
        { find: { filter: {}, sort, projection, options } },
        'reader',
      ),
    ],
  }
}

/** Rows with long lists, sets and maps. */
export function rowWrites(choices: Choices): RequestLoad {
  const rows = choices.size(1, 100)
  const length = choices.size(1, Math.floor(300_000 / rows))
  const columns = choices.some(['l', 's', 'm', 't'] as const)
  const values = {
    l: () => numbers(length),
    s: () => numbers(length),
    m: () => fields(length, (n) => n, 'k'),
    t: () => choices.text(length * 5),
  }
  const cells = () => Object.fromEntries(columns.map((name) => [name, values[name]()]))
  const path = `${keyspace}/scratch_rows`
  const keyOf = (n: number) => ({ id: `row ${n % 10}`, n })
  const operator = choices.pick(['$set', '$push', '$pullAll'])
  const column = choices.pick(['l', 's'])
  const change = {
    $set: cells(),
    $push: { [column]: { $each: numbers(length) } },
    $pullAll: { [column]: numbers(length) },
  }
  const update =
    operator === '$set'
      ? { $set: change.$set }
      : { [operator]: change[operator as '$push' | '$pullAll'] }
  return {
    says: `insertMany of ${rows} rows with columns ${columns.join(', ')} of size ${length}, then ${operator}`,
    requests: [
      commandTo(path, {
        insertMany: {
          documents: Array.from({ length: rows }, (_, n) => ({ ...keyOf(n), ...cells() })),
        },
      }),
      commandTo(path, { updateOne: { filter: keyOf(0), update } }),
      commandTo(path, { deleteMany: { filter: { id: 'row 1' } } }),
      commandTo(path, { deleteMany: { filter: {} } }),
    ],
  }
}
