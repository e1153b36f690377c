/** Sample data of `stela demo`: places of a fictional town, and their visitors. */

export interface DemoRequest {
  /** Describes what the request finds. */
  readonly title: string
  readonly path: string
  /**
   * The command. Must not contain an apostrophe, because the output prints the body in single
   * quotes.
   */
  readonly body: object
}

const keyspace = '/default_keyspace'

/** Places: name, kind, opening hour and description. */
const places: readonly (readonly [string, string, number, string])[] = [
  ['Old Mill', 'museum', 10, 'A water wheel turns again, and children grind flour by hand'],
  [
    'Reading Room',
    'library',
    9,
    'Silence, tall windows, and armchairs between the shelves',
  ],
  ['Harbour Market', 'market', 6, 'Fishermen sell the catch of the night from their boats'],
  ['Glass House', 'garden', 8, 'Palms and orchids grow in warm and humid air all winter'],
  ['Chestnut Park', 'garden', 7, 'Shady lawns for a picnic, and a pond with rowing boats'],
  ['Signal Tower', 'viewpoint', 9, 'Two hundred steps up to see the whole coast at sunset'],
  ['Blue Note Cellar', 'music', 19, 'A jazz band plays until midnight under brick arches'],
  ['Clockmaker', 'workshop', 10, 'Springs and gears are repaired while visitors look on'],
]

/** Visits: place, day, and number of visitors. */
const visits: readonly (readonly [string, string, number])[] = [
  ['Old Mill', '2026-05-01', 140],
  ['Old Mill', '2026-05-02', 95],
  ['Glass House', '2026-05-01', 210],
  ['Glass House', '2026-05-02', 188],
  ['Glass House', '2026-05-03', 230],
  ['Signal Tower', '2026-05-02', 77],
]

/**
 * Creates the sample data on an empty server. Returns example requests, each of which finds some of
 * the data.
 */
export async function fillDemo(
  url: string,
  token: string,
): Promise<readonly DemoRequest[]> {
  const send = (path: string, body: object) => sendCommand(url, token, path, body)
  const service = await findLocalService(send)
  await send(keyspace, {
    createCollection: {
      name: 'places',
      ...(service && { options: { vector: { service } } }),
    },
  })
  const text = service ? '$hybrid' : '$lexical'
  await send(`${keyspace}/places`, {
    insertMany: {
      documents: places.map(([name, kind, opens, says]) => ({
        _id: name,
        kind,
        opens,
        [text]: says,
      })),
    },
  })
  await send(keyspace, {
    createTable: {
      name: 'visits',
      definition: {
        columns: { place: 'text', day: 'date', people: 'int' },
        primaryKey: { partitionBy: ['place'], partitionSort: { day: -1 } },
      },
    },
  })
  await send(`${keyspace}/visits`, {
    insertMany: {
      documents: visits.map(([place, day, people]) => ({ place, day, people })),
    },
  })
  return [service ? byMeaning : byWords, byFields, ofTable]
}

const byMeaning: DemoRequest = {
  title: 'Places by meaning; their texts contain neither of the words',
  path: `${keyspace}/places`,
  body: {
    find: {
      sort: { $vectorize: 'quiet studying' },
      options: { limit: 3, includeSimilarity: true },
    },
  },
}

const byWords: DemoRequest = {
  title: 'Places by the words of their texts (without the built-in model)',
  path: `${keyspace}/places`,
  body: { find: { sort: { $lexical: 'boats' }, options: { limit: 3 } } },
}

const byFields: DemoRequest = {
  title: 'Gardens and markets that are open before eight, the earliest first',
  path: `${keyspace}/places`,
  body: {
    find: {
      filter: { kind: { $in: ['garden', 'market'] }, opens: { $lt: 8 } },
      sort: { opens: 1 },
    },
  },
}

const ofTable: DemoRequest = {
  title: 'Rows of a table, the latest day first',
  path: `${keyspace}/visits`,
  body: { find: { filter: { place: 'Glass House' }, projection: { day: 1, people: 1 } } },
}

interface Answer {
  readonly status?: Readonly<Record<string, unknown>>
  readonly errors?: readonly { readonly message: string }[]
}

type Send = (path: string, body: object) => Promise<Answer>

/** The local embedding service; undefined if the server has no local model. */
async function findLocalService(send: Send): Promise<object | undefined> {
  const { status } = await send('', { findEmbeddingProviders: {} })
  const { embeddingProviders } = status as {
    embeddingProviders: { local?: { models: readonly { name: string }[] } }
  }
  const model = embeddingProviders.local?.models[0]
  return model && { provider: 'local', modelName: model.name }
}

async function sendCommand(
  url: string,
  token: string,
  path: string,
  body: object,
): Promise<Answer> {
  const response = await fetch(`${url}/v1${path}`, {
    method: 'POST',
    headers: { Token: token, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as Answer
  if (answer.errors?.[0] !== undefined) throw new Error(answer.errors[0].message)
  return answer
}
