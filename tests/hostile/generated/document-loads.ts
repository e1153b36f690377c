/** Hostile commands on collections. */
import { packValue } from '../../../src/json/packed.ts'
import { type Choices, fields, numbers } from './choices.ts'
import { bodyTo, commandTo, type HostileRequest, type RequestLoad } from './load.ts'
import { keyspace } from './targets.ts'

/** Filters of many comparisons, each with many values, over long arrays and many documents. */
export function documentFilters(choices: Choices): RequestLoad {
  const command = choices.pick(['find', 'find', 'findOne', 'countDocuments', ...writes])
  // deleteMany acts on a separate collection, because later episodes need the documents of the other
  // collections.
  const target =
    command === 'deleteMany'
      ? 'scratch'
      : choices.pick(['arrays', 'arrays', 'large', 'wide', 'many'])
  const operators = choices.some(conditionNames)
  const comparisons = choices.size(1, 63)
  const values = choices.size(1, 100)
  const filling = choices.filling()
  const nesting = choices.pick(['$and', '$or', '$not', 'nested'])
  const request = () => {
    const conditions = Array.from({ length: comparisons }, () =>
      conditionAt(choices, choices.pick(pathsOf[target]!), choices.pick(operators), {
        values,
        filling,
      }),
    )
    const fields = {
      filter: combined(conditions, nesting),
      ...(command === 'updateMany' && {
        update: { $set: { touched: choices.random.below(9) } },
      }),
    }
    const sender = writes.includes(command) ? 'writer' : 'reader'
    return commandTo(`${keyspace}/${target}`, { [command]: fields }, sender)
  }
  return {
    says: `${command} on ${target}, ${comparisons} comparisons (${operators.join(', ')}) of ${values} ${filling}, ${nesting}`,
    requests: [request(), request()],
  }
}

const writes = ['updateMany', 'deleteMany']

const conditionNames = [
  '$all',
  '$in',
  '$nin',
  '$eq',
  '$ne',
  '$not',
  '$gt',
  '$size',
  '$exists',
] as const

const pathsOf: Readonly<Record<string, readonly string[]>> = {
  arrays: ['a', 'a', 'tags', 'o.f3', 'a.7', 'o'],
  large: ['b', 'c'],
  wide: numbers(100).map((n) => `f${n}`),
  many: ['b', 'text', 'absent.path'],
  scratch: ['a', 'f1', 'd.d'],
}

function conditionAt(
  choices: Choices,
  path: string,
  name: (typeof conditionNames)[number],
  { values: count, filling }: { values: number; filling: ReturnType<Choices['filling']> },
): object {
  const values = choices.values(count, filling)
  switch (name) {
    case '$all':
    case '$in':
    case '$nin':
    case '$eq':
    case '$ne':
      return { [path]: { [name]: values } }
    case '$not':
      return { $not: { [path]: { $in: values } } }
    case '$gt':
      return { [path]: { $gt: typeof values[0] === 'object' ? 3 : values[0] } }
    case '$size':
      return { [path]: { $size: count } }
    case '$exists':
      return { [path]: { $exists: false } }
  }
}

function combined(conditions: readonly object[], nesting: string): object {
  if (nesting === '$not') return { $not: { $or: conditions } }
  if (nesting !== 'nested') return { [nesting]: conditions }
  return conditions.reduce<object>(
    (inner, condition, n) =>
      n % 20 === 19 ? { $not: inner } : { [n % 2 ? '$and' : '$or']: [condition, inner] },
    {},
  )
}

/** Sorts by many keys, and projections with many paths. */
export function documentSorts(choices: Choices): RequestLoad {
  const target = choices.pick(['arrays', 'wide', 'many', 'large'])
  const keys = choices.size(1, 9_900)
  const paths = choices.pick(['f', 'o.f', 'a.', 'absent.deep.'])
  const sort = fields(keys, (n) => (n % 2 ? 1 : -1), paths)
  const options = choices.pick([{}, { limit: 1_000 }, { skip: 1_000_000 }])
  return {
    says: `find on ${target} sorted by ${keys} keys \`${paths}N\`, ${JSON.stringify(options)}`,
    requests: [commandTo(`${keyspace}/${target}`, { find: { sort, options } }, 'reader')],
  }
}

export function documentProjections(choices: Choices): RequestLoad {
  const target = choices.pick(['arrays', 'wide', 'many', 'large'])
  const count = choices.size(1, 9_900)
  const kind = choices.pick(['1', '0', '$slice', 'nested'])
  const slice = [choices.random.below(2_000) - 1_000, choices.size(1, 100_000)]
  const name = choices.pick(['f', 'o.f', 'tree.f', 'objects.', 'parts.'])
  const projection =
    kind === '$slice'
      ? { parts: { $slice: slice }, a: { $slice: slice }, objects: { $slice: slice } }
      : kind === 'nested'
        ? { o: fields(count, () => 1), tree: { f0: fields(count, () => 1) } }
        : fields(count, () => Number(kind), name)
  return {
    says: `find on ${target}, projection ${kind === '$slice' ? `$slice ${slice.join()}` : `of ${count} paths ${kind === 'nested' ? 'nested' : `\`${name}N\`: ${kind}`}`}`,
    requests: [commandTo(`${keyspace}/${target}`, { find: { projection } }, 'reader')],
  }
}

/** Updates of long arrays, and by many paths. */
export function documentUpdates(choices: Choices): RequestLoad {
  const target = choices.pick(['arrays', 'large', 'wide'])
  const path = { arrays: 'a', large: choices.pick(['parts', 'objects']), wide: 'f1' }[
    target
  ]!
  const command = choices.pick(['updateOne', 'updateMany', 'findOneAndUpdate'])
  const filling = choices.filling()
  const count = choices.size(1, 9_000)
  const operator = choices.pick(updateNames)
  const update = (): object => {
    const values = choices.values(count, filling)
    switch (operator) {
      case '$set':
      case '$unset':
      case '$inc':
      case '$currentDate':
        return {
          [operator]: fields(
            count,
            () => (operator === '$currentDate' ? true : 1),
            choices.pick(['g', 'h.f']),
          ),
        }
      case '$rename':
        return { $rename: fields(count, (n) => `renamed${n}`) }
      case '$addToSet':
        return { $addToSet: { [path]: { $each: values } } }
      case '$push':
        return { $push: { [path]: { $each: values, $position: choices.random.below(9) } } }
      case '$pullAll':
        return { $pullAll: { [path]: values } }
      case '$pull':
        return {
          $pull: {
            [path]: choices.pick<object>([
              { $in: values.slice(0, 100) },
              { x: { $gt: 1e9 } },
              { $or: fields1(values) },
            ]),
          },
        }
    }
  }
  const request = () =>
    commandTo(`${keyspace}/${target}`, {
      [command]: {
        filter: command === 'updateMany' ? {} : { _id: choices.random.below(20) },
        update: update(),
      },
    })
  return {
    says: `${command} on ${target}, ${operator} of ${count} ${filling}`,
    requests: [request(), request()],
  }
}

const updateNames = [
  '$set',
  '$unset',
  '$inc',
  '$currentDate',
  '$rename',
  '$addToSet',
  '$push',
  '$pullAll',
  '$pull',
] as const

function fields1(values: readonly unknown[]): object[] {
  return values.slice(0, 60).map((x) => ({ x }))
}

/** Inserts of wide, deep, long or many documents. */
export function documentInserts(choices: Choices): RequestLoad {
  const shape = choices.pick([
    'wide',
    'deep',
    'array',
    'long text',
    'large array',
    'objects',
    'words',
    'vectors',
  ] as const)
  const documents = choices.size(1, 100)
  // The size of a document depends on the number of documents, so that bodies stay below their
  // limit.
  const size = choices.size(10, Math.floor(1_500_000 / documents))
  const document = (n: number): object => {
    switch (shape) {
      case 'wide':
        return fields(Math.min(size, 1_000), (at) => `value ${at * n}`)
      case 'deep':
        return {
          d: nested(Math.min(15, size)),
          e: fields(Math.min(size, 900), (at) => ({ at })),
        }
      case 'array':
        return { a: numbers(Math.min(size, 1_000), n), b: numbers(Math.min(size, 1_000)) }
      case 'long text':
        return { text: choices.text(Math.min(size, 3_000_000)) }
      case 'large array':
        return { parts: numbers(size >> 3) }
      case 'objects':
        return { objects: numbers(size >> 4).map((x) => ({ x })) }
      case 'words':
        return {
          $lexical: numbers(Math.min(size >> 3, 1_000))
            .map((at) => `w${at * n}`)
            .join(' '),
        }
      case 'vectors':
        return { $vector: numbers(16).map((at) => Math.cos(at * n)) }
    }
  }
  const many = () =>
    commandTo(`${keyspace}/scratch`, {
      insertMany: {
        documents: Array.from({ length: documents }, (_, n) => document(n)),
        options: { ordered: choices.oneIn(2) },
      },
    })
  const one = () =>
    commandTo(`${keyspace}/scratch`, { insertOne: { document: document(1) } })
  return {
    says: `insertMany of ${documents} documents, ${shape} of size ${size}`,
    requests: [many(), one(), commandTo(`${keyspace}/scratch`, { deleteMany: {} })],
  }
}

function nested(depth: number): object {
  return depth === 0 ? {} : { d: nested(depth - 1) }
}

/** Long bodies with little content. */
export function oddBodies(choices: Choices): RequestLoad {
  const kind = choices.pick(Object.keys(oddBodyOf))
  const size = choices.size(1_000, 19_000_000)
  const body = Buffer.from(oddBodyOf[kind]!(size))
  return {
    says: `body of ${size} bytes: ${kind}`,
    requests: [
      bodyTo(
        `${keyspace}/${choices.pick(['scratch', 'arrays', 'absent'])}`,
        body,
        choices.pick(['writer', 'reader', 'nobody'] as const),
      ),
    ],
  }
}

const oddBodyOf: Readonly<Record<string, (size: number) => string>> = {
  whitespace: (size) => ' \n\t\r'.repeat(size >> 2),
  'whitespace in a command': (size) => `{"insertOne":${' '.repeat(size)}{"document":{}}}`,
  'document of keys': (size) =>
    `{"insertOne":{"document":{${list(size / 20, (n) => `"k${n}":0`)}}}}`,
  'the same key': (size) =>
    `{"insertOne":{"document":{${list(size / 12, () => `"k":0`)}}}}`,
  'long numerals': (size) =>
    `{"insertOne":{"document":{"parts":[${list(size / 101, () => '9'.repeat(100))}]}}}`,
  fractions: (size) =>
    `{"insertOne":{"document":{"parts":[${list(size / 20, (n) => `${n}.0000000000001`)}]}}}`,
  'escaped text': (size) =>
    `{"insertOne":{"document":{"text":"${'\\u00e9\\n'.repeat(size >> 3)}"}}}`,
  'empty objects': (size) =>
    `{"insertOne":{"document":{"objects":[${list(size / 3, () => '{}')}]}}}`,
  'deep arrays': (size) =>
    `{"find":{"filter":{"a":${'['.repeat(size >> 1)}${']'.repeat(size >> 1)}}}}`,
  'unknown fields': (size) => `{"find":{${list(size / 20, (n) => `"f${n}":{}`)}}}`,
  'unfinished text': (size) => `{"find":{"filter":{"a":"${'x'.repeat(size)}`,
  'dates and ids': (size) =>
    `{"insertMany":{"documents":[${list(size / 60, (n) => `{"_id":{"$date":${n}},"u":{"$uuid":"00000000-0000-4000-8000-000000000000"}}`)}]}}`,
}

function list(count: number, one: (n: number) => string): string {
  return Array.from({ length: Math.max(1, Math.floor(count)) }, (_, n) => one(n)).join()
}

/** Searches with long texts, many results, and models. */
export function searches(choices: Choices): RequestLoad {
  const kind = choices.pick(['lexical', '$match', 'vector', 'vectorize', 'hybrid'] as const)
  const size = choices.size(
    10,
    kind === 'lexical' || kind === '$match' ? 5_000_000 : 100_000,
  )
  const text = choices.text(size)
  const limit = choices.size(1, kind === 'hybrid' ? 50 : 1_000)
  const many = { projection: { '*': 1 }, options: { limit } }
  const request = (): HostileRequest => {
    switch (kind) {
      case 'lexical':
        return commandTo(
          `${keyspace}/texts`,
          { find: { sort: { $lexical: text }, ...many } },
          'reader',
        )
      case '$match':
        return commandTo(
          `${keyspace}/texts`,
          { find: { filter: { $lexical: { $match: text } }, ...many } },
          'reader',
        )
      case 'vector':
        return commandTo(
          `${keyspace}/texts`,
          {
            find: {
              sort: { $vector: choices.values(256, 'present numbers') },
              filter: { b: { $nin: numbers(100) } },
              ...many,
            },
          },
          'reader',
        )
      case 'vectorize':
        return commandTo(
          `${keyspace}/models`,
          {
            find: { sort: { $vectorize: `${choices.random.below(1e9)} ${text}` }, ...many },
          },
          'reader',
        )
      case 'hybrid':
        return commandTo(
          `${keyspace}/models`,
          {
            findAndRerank: {
              sort: { $hybrid: `${choices.random.below(1e9)} ${text.slice(0, 2_000)}` },
              options: { limit },
            },
          },
          'reader',
        )
    }
  }
  return {
    says: `${kind} search by ${text.length} characters, limit ${limit}`,
    requests: [request(), request(), request()],
  }
}

/** Forged page states, and options with extreme values. */
export function pageStates(choices: Choices): RequestLoad {
  const size = choices.size(10, 11_000_000)
  const kind = choices.pick(['text', 'array', 'nested', 'bytes'] as const)
  const content = () => {
    switch (kind) {
      case 'text':
        return packValue([0, 'of-no-query', 'engine', choices.text(size >> 2)])
      case 'array':
        return packValue([0, 'of-no-query', 'engine', numbers(size >> 4)])
      case 'nested': {
        let value: [] | [unknown] = []
        for (let depth = 0; depth < Math.min(size, 400); depth++) value = [value]
        return packValue([0, 'of-no-query', 'engine', value as never])
      }
      case 'bytes':
        return Buffer.alloc(size, choices.random.below(256))
    }
  }
  const pageState = Buffer.concat([Uint8Array.of(2), content()]).toString('base64url')
  const target = choices.pick(['arrays', 'many', 'lines'])
  const command = choices.pick(['find', 'find', 'updateMany'])
  return {
    says: `${command} on ${target}, page state of ${size} bytes, ${kind}`,
    requests: [
      commandTo(`${keyspace}/${target}`, {
        [command]: {
          ...(command === 'updateMany' && { update: {} }),
          options: { pageState },
        },
      }),
    ],
  }
}
