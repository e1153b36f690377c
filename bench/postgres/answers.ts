/** Checks that Stela and PostgreSQL answer the same requests alike. */
import { Client, requestBytes } from '../client.ts'
import { collectionPath } from '../dataset.ts'
import { token } from '../processes.ts'
import { documentsIn } from '../requests.ts'
import { PostgresClient, type Statements } from './client.ts'
import type { CustomerPicks } from './documents.ts'
import { rowCountOf, rowsIn } from './messages.ts'
import { countMax, pageSize, statements, type ComparedRequest } from './requests.ts'

/** Sends `count` random requests to both servers. Throws if their answers differ. */
export async function compareAnswers(
  request: ComparedRequest,
  count: number,
  picks: CustomerPicks,
  ports: { readonly stela: number; readonly postgres: number },
): Promise<void> {
  const stela = await Client.connect(ports.stela, 1)
  const postgres = await PostgresClient.connect(ports.postgres, 1, {
    ...statements,
    ...unlimited,
  })
  try {
    for (let i = 0; i < count; i++) {
      const { body, statement, values } = request.make(picks)
      const ours = await stela.ask(requestBytes(collectionPath, token, body))
      const theirs = await postgres.execute(statement, values)
      const all = async () => idsIn(await postgres.execute(`${statement}All`, values))
      if (!(await agree(request.answer, ours, theirs, all)))
        throw new Error(
          `the servers answer ${body} differently: ${ours.slice(0, 2000)} and ` +
            JSON.stringify(rowsIn(theirs)).slice(0, 2000),
        )
    }
  } finally {
    stela.close()
    postgres.close()
  }
}

/** The same statements without a limit. */
const unlimited: Statements = Object.fromEntries(
  Object.entries(statements).map(([name, sql]) => [
    `${name}All`,
    sql.replace(/ LIMIT \d+$/, ''),
  ]),
)

async function agree(
  answer: ComparedRequest['answer'],
  ours: string,
  theirs: Buffer,
  all: () => Promise<readonly string[]>,
): Promise<boolean> {
  const { data, status } = JSON.parse(ours) as Reply
  switch (answer) {
    case 'count':
      return status!.count === Math.min(countMax, Number(rowsIn(theirs)[0]![0]))
    case 'one write':
      return documentsIn(ours) === 1 && rowCountOf(theirs) === 1
    case 'ordered documents': {
      // Documents with equal scores have no fixed order.
      const scores = documentsOf(data).map(({ score }) => score)
      const theirScores = rowsIn(theirs).map(([, text]) => scoreIn(text!))
      return isSame(scores, theirScores) && isSame(idsOf(data), idsIn(theirs))
    }
    case 'documents': {
      const [ids, theirIds] = [idsOf(data), idsIn(theirs)]
      if (isSame(ids, theirIds)) return true
      // If more documents match than the page has, each server may choose.
      if (ids.length !== pageSize || theirIds.length !== pageSize) return false
      const matching = new Set(await all())
      return new Set(ids).size === pageSize && ids.every((id) => matching.has(id))
    }
  }
}

interface Reply {
  readonly data?: Data
  readonly status?: { readonly count?: number }
}

interface Data {
  readonly document?: Found | null
  readonly documents?: readonly Found[]
}

interface Found {
  readonly _id: string
  readonly score: number
}

function documentsOf(data: Data | undefined): readonly Found[] {
  return data?.documents ?? (data?.document ? [data.document] : [])
}

/** Ids in ascending order. */
function idsOf(data: Data | undefined): readonly string[] {
  return documentsOf(data)
    .map(({ _id }) => _id)
    .toSorted()
}

function idsIn(rows: Buffer): readonly string[] {
  return rowsIn(rows)
    .map(([id]) => id!)
    .toSorted()
}

function scoreIn(text: string): number {
  return (JSON.parse(text) as Found).score
}

function isSame(
  ours: readonly (string | number)[],
  theirs: readonly (string | number)[],
): boolean {
  return ours.length === theirs.length && ours.every((one, i) => one === theirs[i])
}
