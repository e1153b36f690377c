import {
  carriedBy,
  type Carried,
  type Cluster,
  type Mix,
  type RequestCost,
  type StatementCost,
} from '../cassandra/scale.ts'
import { short, whole } from '../report.ts'
import type { Findings, Study, Table } from './study.ts'

/**
 * CPU time per request over 16 connections, in milliseconds: of a node that the driver
 * alone uses, and of the server. The numbers are from lab/cluster.md, the run of 17
 * November 2026, 22:50. Vector searches are measured through the server, which requests
 * more rows than the driver.
 */
const floorMs = 0.09
const lookupMs = 0.122
const node = {
  findOne: 0.246,
  findEqual: 2.525,
  nearest: 4.783,
  increment: 3.533,
  insertOne: 3.147,
}
const server = {
  findOne: 0.13,
  findEqual: 0.648,
  nearest: 0.971,
  increment: 0.694,
  insertOne: 0.521,
}

const byKey: StatementCost = { reach: 'quorum', ms: node.findOne }

const findOne: RequestCost = {
  says: 'findOne by _id',
  statements: [byKey],
  serverMs: server.findOne,
}
const findCommon: RequestCost = {
  says: 'find 20 of many that match',
  // 1 % of a hundred million documents match, so that every token range contains more matches than
  // a request returns.
  statements: [{ reach: 'parts', ms: node.findEqual, lookupMs, plenty: 50_000 }],
  serverMs: server.findEqual,
}
const findRare: RequestCost = {
  says: 'find 20 of 20 that match',
  statements: [{ reach: 'parts', ms: node.findEqual, lookupMs }],
  serverMs: server.findEqual,
}
const nearest: RequestCost = {
  says: 'find the 10 nearest',
  statements: [{ reach: 'every part', ms: node.nearest }],
  serverMs: server.nearest,
}
const increment: RequestCost = {
  says: 'updateOne by _id',
  statements: [byKey, { reach: 'copies', ms: node.increment - node.findOne }],
  serverMs: server.increment,
}
const insertOne: RequestCost = {
  says: 'insertOne',
  statements: [{ reach: 'copies', ms: node.insertOne }],
  serverMs: server.insertOne,
}

const requests = [findOne, findCommon, findRare, nearest, increment, insertOne]

/** Requests of an application that mostly reads, and searches occasionally. */
const usual: Mix = [
  [findOne, 0.6],
  [findCommon, 0.2],
  [increment, 0.1],
  [insertOne, 0.05],
  [nearest, 0.05],
]

const sizes = [3, 12, 100]
/** Number of token ranges per node that many new clusters have by default. */
const manyTokens = 16

function clusterOf(nodes: number, tokens: number): Cluster {
  return { nodes, copies: 3, tokens, coresPerNode: 8, busyShare: 0.5 }
}

export const scale: Study = {
  name: 'scale',
  says: 'capacity of clusters, computed from the costs of one node',
  size: 1,

  run(): Promise<Findings> {
    return Promise.resolve({
      tables: [
        tableOf('Requests a second', 1, ({ requestsPerSecond }) =>
          whole(requestsPerSecond),
        ),
        tableOf(`The same with ${manyTokens} tokens a node`, manyTokens, (carried) =>
          whole(carried.requestsPerSecond),
        ),
        tableOf('Processor time of all nodes for a request, ms', 1, ({ nodesMs }) =>
          short(nodesMs),
        ),
        tableOf('Cores for servers, at those rates', 1, ({ serverCores }) =>
          whole(serverCores),
        ),
      ],
      figures: [
        {
          what: 'minimum cost of a statement on a node',
          value: floorMs * 1000,
          unit: 'µs',
        },
        { what: 'an index lookup', value: lookupMs * 1000, unit: 'µs' },
      ],
    })
  },
}

function tableOf(title: string, tokens: number, cell: (carried: Carried) => string): Table {
  const line = (says: string, mix: Mix) => [
    says,
    ...sizes.map((nodes) => cell(carriedBy(clusterOf(nodes, tokens), mix, floorMs))),
  ]
  return {
    title,
    head: ['request', ...sizes.map((nodes) => `${nodes} nodes`)],
    rows: [
      ...requests.map((request) => line(request.says, [[request, 1]])),
      line('the usual mix', usual),
    ],
  }
}
