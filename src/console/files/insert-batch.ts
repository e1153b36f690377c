/** Sends one insertMany and reports the outcome of each document. */
import { command, CommandError } from '../api/command.ts'
import { patiently } from '../api/patience.ts'
import type { Place } from '../api/place.ts'
import { RawJson } from '../json/value.ts'
import type { BatchOutcome } from './import-run.ts'

interface DocumentResponse {
  readonly status: 'OK' | 'ERROR' | 'SKIPPED'
  readonly errorsIdx?: number
}

export async function insertBatch(
  place: Place,
  documents: readonly string[],
): Promise<BatchOutcome> {
  try {
    await insertPatiently(place, documents)
    return new Map()
  } catch (error) {
    if (!(error instanceof CommandError) || isOfAll(error)) throw error
    const responses = error.reply.status['documentResponses']
    if (responses !== undefined)
      return refusedOf(responses as readonly DocumentResponse[], error)
    if (documents.length === 1) return new Map([[0, error.message]])
    // Some documents of the batch are invalid. Halving the batch isolates them and inserts the
    // valid ones.
    const middle = documents.length >> 1
    const first = await insertBatch(place, documents.slice(0, middle))
    const second = await insertBatch(place, documents.slice(middle))
    const moved = [...second].map(([at, message]) => [at + middle, message] as const)
    return new Map([...first, ...moved])
  }
}

function refusedOf(
  responses: readonly DocumentResponse[],
  { errors, message }: CommandError,
): BatchOutcome {
  const refused = new Map<number, string>()
  for (const [position, { status, errorsIdx }] of responses.entries())
    if (status !== 'OK') refused.set(position, errors[errorsIdx ?? 0]?.message ?? message)
  return refused
}

/** Whether the same error would occur with any other document. */
function isOfAll({ httpStatus, code, isForbidden }: CommandError): boolean {
  return (
    isForbidden ||
    httpStatus === 401 ||
    httpStatus === 404 ||
    httpStatus >= 429 ||
    ['UNKNOWN_COLLECTION_OR_TABLE', 'UNKNOWN_KEYSPACE'].includes(code) ||
    code.startsWith('EMBEDDING_PROVIDER_')
  )
}

async function insertPatiently(place: Place, documents: readonly string[]): Promise<void> {
  const options = { ordered: false, returnDocumentResponses: true }
  const body = { documents: documents.map((text) => new RawJson(text)), options }
  await patiently(() => command(place, 'insertMany', body))
}
