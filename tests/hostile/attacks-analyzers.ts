/** Analyzers with long lists, and texts that are slow to analyze. */
import { answersOf, type Attack } from './attack.ts'
import { hostileToken, type HostileServer } from './hostile-server.ts'

const keyspace = '/default_keyspace'

/** Sends commands one after the other, each on a separate connection. */
async function inOrder(server: HostileServer, path: string, commands: readonly object[]) {
  const statuses: number[] = []
  for (const command of commands) {
    const body = Buffer.from(JSON.stringify(command))
    statuses.push((await server.ask(hostileToken, path, body)).status)
  }
  return answersOf(statuses)
}

function withLists(
  name: string,
  args: (list: string) => object,
  count: number,
  length: number,
) {
  const words: string[] = []
  for (let n = 0, used = 0; used < length; used += words.at(-1)!.length + 1)
    words.push((n++).toString(36))
  const filter = { name, args: args(words.join(',')) }
  return { tokenizer: { name: 'whitespace' }, filters: Array<object>(count).fill(filter) }
}

function creations(count: number, analyzer: object): readonly object[] {
  return Array.from({ length: count }, (_, n) => ({
    createCollection: {
      name: `analyzed${n}`,
      options: { lexical: { enabled: true, analyzer } },
    },
  }))
}

const synonyms = (list: string) => ({ synonyms: list })
const words = (list: string) => ({ words: list, ignoreCase: 'true' })

export const analyzerAttacks: readonly Attack[] = [
  {
    name: 'large-synonyms',
    request: '5 createCollection with 19 `synonym` filters of 1 MB',
    run: (server) =>
      inOrder(
        server,
        keyspace,
        creations(5, withLists('synonym', synonyms, 19, 1_000_000)),
      ),
  },
  {
    name: 'large-stop-lists',
    request: '5 createCollection with 19 `stop` filters of 1 MB',
    run: (server) =>
      inOrder(server, keyspace, creations(5, withLists('stop', words, 19, 1_000_000))),
  },
  {
    name: 'many-analyzers',
    request: '100 createCollection with the largest lists, each used in turn',
    async run(server) {
      const analyzer = withLists('synonym', synonyms, 1, 38_000)
      const commands = creations(100, analyzer)
      const distinct = commands.map((command, n) =>
        JSON.parse(JSON.stringify(command).replace('"synonyms":"', `"synonyms":"x${n},`)),
      ) as object[]
      await inOrder(server, keyspace, distinct)
      const find = { find: { filter: { $lexical: { $match: 'some words' } } } }
      for (let n = 0; n < 99; n++) await inOrder(server, `${keyspace}/analyzed${n}`, [find])
      return inOrder(server, `${keyspace}/analyzed99`, [find])
    },
  },
  ...(['thai', 'half-width-katakana'] as const).map((kind): Attack => ({
    name: `${kind}-text`,
    request: `insertOne of 20 texts of 500 000 ${kind === 'thai' ? 'Thai' : 'half-width katakana'} characters`,
    async prepare(server) {
      await server.command(keyspace, {
        createCollection: {
          name: 'target',
          options: {
            lexical: {
              enabled: true,
              analyzer: {
                tokenizer: { name: 'thai' },
                filters: [{ name: 'keepWord', args: { words: 'none' } }],
              },
            },
          },
        },
      })
    },
    run(server) {
      const $lexical = (kind === 'thai' ? '\u0e01\u0e02\u0e04' : '\uff8a\uff9f').repeat(
        kind === 'thai' ? 166_000 : 250_000,
      )
      const commands = Array.from({ length: 20 }, () => ({
        insertOne: { document: { $lexical } },
      }))
      return inOrder(server, `${keyspace}/target`, commands)
    },
  })),
]
