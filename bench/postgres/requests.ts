/** The compared requests: each as a command of Stela and as a statement of PostgreSQL. */
import type { Statements } from './client.ts'
import { withId, type CustomerPicks } from './documents.ts'

/** A request to both servers. */
export interface Asked {
  /** The body of the command. */
  readonly body: string
  /** Name of the prepared statement. */
  readonly statement: string
  readonly values: readonly string[]
}

export interface ComparedRequest {
  /** Name on the command line. */
  readonly name: string
  readonly says: string
  /** `repeat`: requests are repeated; `once`: each request is created for a single use. */
  readonly requests: 'repeat' | 'once'
  /** What the answers of both servers must have in common. */
  readonly answer: 'documents' | 'ordered documents' | 'count' | 'one write'
  /** Whether PostgreSQL is also measured with compound indexes. */
  readonly usesCompound?: true
  make(picks: CustomerPicks): Asked
}

/** Documents of a page. */
export const pageSize = 20
/** Stela counts no further. */
export const countMax = 1000

const city = "doc->>'city'"
const age = "(doc->>'age')::int"
const score = "(doc->>'score')::int"

export const statements = {
  findOne: 'SELECT id, doc FROM documents WHERE id = $1',
  byAccount: `SELECT id, doc FROM documents WHERE doc->>'account' = $1 LIMIT ${pageSize}`,
  byCityAndAge:
    `SELECT id, doc FROM documents WHERE ${city} = $1 AND ${age} = $2::int ` +
    `LIMIT ${pageSize}`,
  byScore:
    `SELECT id, doc FROM documents WHERE ${city} = $1 ` +
    `ORDER BY ${score} LIMIT ${pageSize}`,
  count: `SELECT count(*) FROM documents WHERE ${city} = $1`,
  increment:
    "UPDATE documents SET doc = jsonb_set(doc, '{visits}', " +
    "to_jsonb((doc->>'visits')::bigint + 1)) WHERE id = $1",
  insertOne: 'INSERT INTO documents (id, doc) VALUES ($1, $2)',
} satisfies Statements

/** The table, and an index on each field that requests have conditions on or sort by. */
export const createTable = [
  'CREATE TABLE documents (id text PRIMARY KEY, doc jsonb NOT NULL)',
  "CREATE INDEX by_account ON documents ((doc->>'account'))",
  `CREATE INDEX by_city ON documents ((${city}))`,
  `CREATE INDEX by_age ON documents ((${age}))`,
  `CREATE INDEX by_score ON documents ((${score}))`,
]

export const createCompound = [
  `CREATE INDEX by_city_age ON documents ((${city}), (${age}))`,
  `CREATE INDEX by_city_score ON documents ((${city}), (${score}))`,
  'ANALYZE documents',
]

export const dropCompound = ['DROP INDEX by_city_age, by_city_score']

const findOne: ComparedRequest = {
  name: 'find-one',
  says: 'findOne by _id',
  requests: 'repeat',
  answer: 'documents',
  make: (picks) => {
    const id = picks.id()
    const body = `{"findOne":{"filter":{"_id":"${id}"}}}`
    return { body, statement: 'findOne', values: [id] }
  },
}

const increment: ComparedRequest = {
  name: 'update-one',
  says: 'updateOne by _id, $inc',
  requests: 'repeat',
  answer: 'one write',
  make: (picks) => {
    const id = picks.id()
    const body = `{"updateOne":{"filter":{"_id":"${id}"},"update":{"$inc":{"visits":1}}}}`
    return { body, statement: 'increment', values: [id] }
  },
}

/** In order of execution. Reads come first, because the others change the documents. */
export const comparedRequests: readonly ComparedRequest[] = [
  findOne,
  {
    name: 'find-equal',
    says: `find ${pageSize} by a field, ${pageSize} match`,
    requests: 'repeat',
    answer: 'documents',
    make: (picks) => {
      const account = picks.account()
      const body = findBody(`{"account":"${account}"}`)
      return { body, statement: 'byAccount', values: [account] }
    },
  },
  {
    name: 'find-two-conditions',
    says: `find ${pageSize} by city and age, about 12 match`,
    requests: 'repeat',
    answer: 'documents',
    usesCompound: true,
    make: (picks) => {
      const [city, age] = [picks.city(), picks.age()]
      const body = findBody(`{"city":"${city}","age":${age}}`)
      return { body, statement: 'byCityAndAge', values: [city, String(age)] }
    },
  },
  {
    name: 'find-sorted',
    says: `first ${pageSize} of a city by score, 1 000 match`,
    requests: 'repeat',
    answer: 'ordered documents',
    usesCompound: true,
    make: (picks) => {
      const city = picks.city()
      const body = findBody(`{"city":"${city}"}`, '"sort":{"score":1},')
      return { body, statement: 'byScore', values: [city] }
    },
  },
  {
    name: 'count',
    says: 'countDocuments of a city, 1 000 match',
    requests: 'repeat',
    answer: 'count',
    make: (picks) => {
      const city = picks.city()
      const body = `{"countDocuments":{"filter":{"city":"${city}"}}}`
      return { body, statement: 'count', values: [city] }
    },
  },
  {
    name: 'mixed',
    says: '95 % findOne, 5 % $inc',
    requests: 'repeat',
    answer: 'one write',
    make: (picks) => (picks.chance(0.05) ? increment : findOne).make(picks),
  },
  increment,
  {
    name: 'insert-one',
    says: 'insertOne',
    requests: 'once',
    answer: 'one write',
    make: (picks) => {
      const customer = picks.newCustomer()
      const body = `{"insertOne":{"document":${withId(customer)}}}`
      return { body, statement: 'insertOne', values: [customer.id, customer.document] }
    },
  },
]

function findBody(filter: string, sort = ''): string {
  return `{"find":{"filter":${filter},${sort}"options":{"limit":${pageSize}}}}`
}
