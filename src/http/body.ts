/** Request bodies: from bytes to a JSON value. */
import { isUtf8 } from 'node:buffer'
import { apiError, type ApiError } from '../errors/api-error.ts'
import { JsonProblem, parseJson } from '../json/parse.ts'
import type { Value } from '../json/value.ts'
import type { Limits } from '../limits.ts'

/** Reads a body as JSON; throws the ApiError that says why it is none. */
export function parseBody(bytes: Buffer, limits: Limits): Value {
  if (bytes.length === 0) throw emptyBody()
  if (!isUtf8(bytes))
    throw apiError('REQUEST_NOT_JSON', { problem: 'its bytes are not valid UTF-8' })
  const text = bytes.toString('utf8')
  try {
    return parseJson(text, {
      depthMax: limits.jsonDepthMax,
      numeralLengthMax: limits.numeralLengthMax,
    })
  } catch (problem) {
    if (!(problem instanceof JsonProblem)) throw problem
    throw explain(problem, text, limits)
  }
}

function explain(problem: JsonProblem, text: string, limits: Limits): ApiError {
  switch (problem.kind) {
    case 'syntax':
      return /^\s*$/.test(text)
        ? emptyBody()
        : apiError('REQUEST_NOT_JSON', { problem: problem.message })
    case 'depth':
      return apiError('SHRED_DOC_LIMIT_VIOLATION', {
        what: 'The depth of the JSON',
        actual: `over ${limits.jsonDepthMax}`,
        max: limits.jsonDepthMax,
      })
    case 'numeral':
      return apiError('SHRED_DOC_LIMIT_VIOLATION', {
        what: `The length of the number at offset ${problem.offset}`,
        actual: problem.numeralLength ?? `over ${limits.numeralLengthMax}`,
        max: limits.numeralLengthMax,
      })
  }
}

function emptyBody(): ApiError {
  return apiError('COMMAND_FIELD_VALUE_INVALID', {
    field: 'command',
    value: '`null`',
    reason: 'the body is empty; send {"<command>": {<fields>}}',
  })
}
