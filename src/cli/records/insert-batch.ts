/** Inserts documents in one request, and finds out what became of each. */
import { isNumeric, type Value } from '../../json/value.ts'
import { defaultLimits } from '../../limits.ts'
import { memberAt, type AnswerError, type ApiAnswer } from './api-client.ts'
import { CommandFailure } from './failure.ts'
import type { RecordTarget } from './target.ts'

export interface SentDocument {
  /** Its JSON. */
  readonly text: string
  /** Whether it may have been stored before, by a run that was interrupted. */
  readonly mayBeThere: boolean
}

/** `there`: it was stored by an earlier try, whose answer did not arrive. */
export type InsertOutcome = 'inserted' | 'there' | { readonly refused: string }

/** The most documents of a request. */
export const batchCountMax = defaultLimits.insertManyMax

/**
 * Bytes of the documents of a request, which only a single large document exceeds. A fifth
 * of what a request may have: requests under way are held in memory.
 */
export const batchSizeMax = defaultLimits.bodySizeMax / 5

const before = '{"insertMany":{"documents":['
const after = '],"options":{"ordered":false,"returnDocumentResponses":true}}}'

/** Bytes that a document may have in a request of its own. */
export const documentSizeMax = defaultLimits.bodySizeMax - before.length - after.length

export async function insertBatch(
  target: RecordTarget,
  documents: readonly SentDocument[],
): Promise<InsertOutcome[]> {
  if (documents.length === 0) return []
  const texts = documents.map(({ text }) => text)
  const answer = await target.send(before + texts.join(',') + after)
  const responses = memberAt(answer.body, 'status', 'documentResponses')
  if (Array.isArray(responses) && responses.length === documents.length)
    return documents.map((document, position) =>
      outcomeOf(document, responses[position]!, answer),
    )
  const refusal = refusalOf(answer)
  if (documents.length === 1) return [{ refused: refusal }]
  // One document can have the whole request refused. Halving leads to it.
  const middle = documents.length >> 1
  const outcomes = await insertBatch(target, documents.slice(0, middle))
  return [...outcomes, ...(await insertBatch(target, documents.slice(middle)))]
}

function outcomeOf(
  document: SentDocument,
  response: Value,
  answer: ApiAnswer,
): InsertOutcome {
  if (memberAt(response, 'status') === 'OK') return 'inserted'
  const position = memberAt(response, 'errorsIdx')
  const error = isNumeric(position) ? answer.errors[Number(position)] : undefined
  const isTwice = error?.code === 'DOCUMENT_ALREADY_EXISTS'
  if (isTwice && (document.mayBeThere || answer.isRepeated)) return 'there'
  return { refused: error === undefined ? 'the server does not say why' : said(error) }
}

/** Why all of a request was refused. Throws where no other would fare better. */
function refusalOf({ status, errors }: ApiAnswer): string {
  if (status === 413) return 'the server takes no requests of this size'
  const error = errors[0]
  if (error === undefined)
    throw new CommandFailure(
      'the server answers insertMany in a way that is not understood.',
    )
  if (error.code === 'UNKNOWN_COLLECTION_OR_TABLE' || error.code === 'UNKNOWN_KEYSPACE')
    throw new CommandFailure(said(error))
  return said(error)
}

function said({ code, message }: AnswerError): string {
  return `${code}: ${message}`
}
