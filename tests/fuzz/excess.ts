/** Valid and almost valid requests that are excessive in one way, such as size or number. */
import type { Random } from '../faults/random.ts'
import { processToken } from '../faults/server-process.ts'
import { commandInput, Literal, type Input } from './input.ts'

const from = 'excess'

/** Writes an input that is excessive in one way. `path` is the path of a collection or a table. */
export function writeExcess(random: Random, path: string): Input {
  const find = (clauses: object) => commandInput(from, path, { find: clauses })
  switch (random.below(8)) {
    case 0: {
      const values = new Literal(`[${'{},'.repeat(random.below(2_000_000))}{}]`)
      return commandInput(
        from,
        path,
        random.oneIn(2) ? values : { insertOne: { document: { values } } },
      )
    }
    case 1:
      return find({ options: { pageState: 'W10'.repeat(random.below(3_000_000)) } })
    case 2:
      return find({ sort: { $lexical: 'some words '.repeat(random.below(300_000)) } })
    case 3:
      return find({
        filter: { $lexical: { $match: 'w'.repeat(1 + random.below(3_000_000)) } },
      })
    case 4:
      return find({ filter: { name: { $nin: Array.from({ length: 97 }, (_, n) => n) } } })
    case 5:
      return find({ sort: { $vector: new Literal(`[${'0.5,'.repeat(9_000)}1]`) } })
    case 6:
      return commandInput(from, path, {
        insertMany: {
          documents: Array.from({ length: 20 }, () => ({
            text: 'x'.repeat(random.below(100_000)),
          })),
        },
      })
    default:
      return unread(random, path)
  }
}

/** Many requests on one connection, sent without waiting for their replies. */
function unread(random: Random, path: string): Input {
  const body = '{"find":{}}'
  const request =
    `POST ${path} HTTP/1.1\r\nHost: x\r\nToken: ${processToken}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const bytes = Buffer.from(request.repeat(1 + random.below(300)))
  return { kind: 'raw', from, parts: [bytes], ending: 'leave' }
}
