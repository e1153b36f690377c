/** Inserts documents in one request and reports the outcome of each. */
import { isNumeric, type Value } from '../../json/value.ts'
import { defaultLimits } from '../../limits.ts'
import { memberAt, type AnswerError, type ApiAnswer } from './api-client.ts'
import { CommandFailure } from './failure.ts'
import type { RecordTarget } from './target.ts'

export interface SentDocument {
  /** JSON text of the document. */
  readonly text: string
  /** Whether an interrupted run may have stored the document already. */
  readonly mayBeThere: boolean
}

/** `there`: an earlier attempt, whose reply was lost, has already stored the document. */
export type InsertOutcome = 'inserted' | 'there' | { readonly refused: string }

/** Maximum number of documents per request. */
export const batchCountMax = defaultLimits.insertManyMax

/**
 * Maximum bytes of documents per request; a larger document is sent alone. The value is a fifth of
 * the request limit, because requests in flight are held in memory.
 */
export const batchSizeMax = defaultLimits.bodySizeMax / 5

const before = '{"insertMany":{"documents":['
const after = '],"options":{"ordered":false,"returnDocumentResponses":true}}}'

/** Maximum bytes of a document that is the only one of a request. */
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
  // One invalid document can make the server reject the whole request. Halving the batch isolates
  // it.
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
  return { refused: error === undefined ? 'the server gave no reason' : said(error) }
}

/**
 * The reason why the server rejected the whole request. Throws if the server would reject any
 * request for this reason.
 */
function refusalOf({ status, errors }: ApiAnswer): string {
  if (status === 413) return 'the request exceeds the maximum size that the server accepts'
  const error = errors[0]
  if (error === undefined)
    throw new CommandFailure(
      'the reply to insertMany is invalid. Check that --url is the URL of a Stela server.',
    )
  if (error.code === 'UNKNOWN_COLLECTION_OR_TABLE' || error.code === 'UNKNOWN_KEYSPACE')
    throw new CommandFailure(said(error))
  return said(error)
}

function said({ code, message }: AnswerError): string {
  return `${code}: ${message}`
}
