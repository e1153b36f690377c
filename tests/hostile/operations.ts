/** Requests that a well-behaved client repeats. */
import type { HostileServer } from './hostile-server.ts'

/** Requests that are sent one after the other, in a loop. */
export interface Operation {
  readonly name: string
  readonly token: string
  /**
   * Path of the requests. If it is empty, nothing is sent, and the thread waits for a timer
   * instead.
   */
  readonly path: string
  /** Commands to send. If the list is empty, the path is requested with GET. */
  readonly commands: readonly object[]
  /** Number of parts in which a body is sent, with a pause between them. */
  readonly parts: number
  /**
   * Factor for the pause between requests. Expensive operations have longer pauses, so that they do
   * not load the server themselves.
   */
  readonly rests: number
  /** Milliseconds that the operation itself takes. They are subtracted from waits. */
  readonly ownMs: number
}

/**
 * Measures how late timers fire in an idle thread. This is the part of each wait that other load of
 * the machine causes.
 */
const machine: Operation = { ...operation('machine', '', ''), ownMs: 5 }
export const machineName = machine.name

const keyspace = '/default_keyspace'

/** Makes few operations. They share one collection and one token. */
export async function makeFewOperations(
  server: HostileServer,
  token: string,
): Promise<readonly Operation[]> {
  const path = await makeCollection(server, 'bystander', { vector: { dimension: 3 } })
  const documents = Array.from({ length: 100 }, (_, n) => ({
    _id: n,
    $vector: [n, 100 - n, 1],
  }))
  await server.command(path, { insertMany: { documents } })
  await server.command(path, { insertOne: { document: { _id: 'upload' } } })
  const upload = {
    filter: { _id: 'upload' },
    update: { $set: { more: Array<string>(150).fill('y'.repeat(7_000)) } },
  }
  return [
    operation('health', token, '/stargate/health'),
    operation('findOne', token, `/v1${path}`, { findOne: { filter: { _id: 7 } } }),
    operation('search', token, `/v1${path}`, {
      find: { sort: { $vector: [3, 1, 2] }, options: { limit: 5 } },
    }),
    { ...operation('upload', token, `/v1${path}`, { updateOne: upload }), parts: 6 },
  ]
}

/** Makes many operations. Each has a separate collection and token. */
export async function makeManyOperations(
  server: HostileServer,
): Promise<readonly Operation[]> {
  const token = () => server.createToken('Database Administrator')
  const collection = async (name: string, options: object = {}) => {
    const path = await makeCollection(server, `bystander_${name}`, options)
    await server.command(path, {
      insertMany: { documents: Array.from({ length: 50 }, (_, n) => ({ _id: n, n })) },
    })
    return `/v1${path}`
  }
  const vectors = await makeCollection(server, 'bystander_search', {
    vector: { dimension: 3 },
  })
  await server.command(vectors, {
    insertMany: {
      documents: Array.from({ length: 100 }, (_, n) => ({ $vector: [n, 100 - n, 1] })),
    },
  })
  const texts = await makeCollection(server, 'bystander_texts', {
    vector: { service: { provider: 'local', modelName: 'all-MiniLM-L6-v2' } },
  })
  await server.command(texts, {
    insertMany: {
      documents: Array.from({ length: 10 }, (_, n) => ({ $vectorize: `text ${n}` })),
    },
  })
  const byId = { filter: { _id: 7 } }
  const made = { name: 'bystander_made' }
  return [
    machine,
    operation('health', await token(), '/stargate/health'),
    operation('findOne', await token(), await collection('find_one'), { findOne: byId }),
    operation('find', await token(), await collection('find'), {
      find: { filter: { n: { $gt: 20 } }, sort: { n: -1 } },
    }),
    operation('insertOne', await token(), await collection('insert_one'), {
      insertOne: { document: { text: 'some words' } },
    }),
    operation('updateOne', await token(), await collection('update_one'), {
      updateOne: { ...byId, update: { $inc: { n: 1 } } },
    }),
    operation('search', await token(), `/v1${vectors}`, {
      find: { sort: { $vector: [3, 1, 2] }, options: { limit: 5 } },
    }),
    {
      ...operation('$vectorize find', await token(), `/v1${texts}`, {
        find: { sort: { $vectorize: 'a text of some words' }, options: { limit: 5 } },
      }),
      rests: 5,
    },
    {
      ...operation(
        'createCollection',
        await token(),
        `/v1${keyspace}`,
        { createCollection: made },
        { deleteCollection: made },
      ),
      rests: 20,
    },
  ]
}

/** Creates a collection, and returns its path. */
async function makeCollection(
  server: HostileServer,
  name: string,
  options: object,
): Promise<string> {
  await server.command(keyspace, {
    createCollection: { name, options: { indexing: { deny: ['more'] }, ...options } },
  })
  return `${keyspace}/${name}`
}

function operation(
  name: string,
  token: string,
  path: string,
  ...commands: readonly object[]
): Operation {
  return { name, token, path, commands, parts: 1, rests: 1, ownMs: 0 }
}
