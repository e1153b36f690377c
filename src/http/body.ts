/** Request bodies: from bytes to a JSON value. */
import { isUtf8 } from 'node:buffer'
import type { Deadline } from '../caller.ts'
import { apiError, type ApiError } from '../errors/api-error.ts'
import { JsonProblem, parseJson, parseJsonInSteps } from '../json/parse.ts'
import type { Value } from '../json/value.ts'
import type { Limits } from '../limits.ts'
import { inTurns } from '../steps.ts'

/**
 * Reads a body as JSON; throws the ApiError that says why it is none. Others have their turn
 * while a large one is read.
 */
export function parseBody(
  bytes: Buffer,
  limits: Limits,
  deadline: Deadline,
): Value | Promise<Value> {
  if (bytes.length === 0) throw emptyBody()
  if (!isUtf8(bytes))
    throw apiError('REQUEST_NOT_JSON', { problem: 'its bytes are not valid UTF-8' })
  const text = bytes.toString('utf8')
  const parseLimits = {
    depthMax: limits.jsonDepthMax,
    numeralLengthMax: limits.numeralLengthMax,
    valuesMax: limits.bodyValuesMax,
  }
  const refuse = (problem: unknown): never => {
    throw problem instanceof JsonProblem ? explain(problem, text, limits) : problem
  }
  try {
    if (text.length < smallBodyLength) return parseJson(text, parseLimits)
    const value = inTurns(parseJsonInSteps(text, parseLimits), deadline)
    return value instanceof Promise ? value.catch(refuse) : value
  } catch (problem) {
    return refuse(problem)
  }
}

/** Characters of a body that are read in one go: that takes less than a millisecond. */
const smallBodyLength = 65_536

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
    case 'values':
      return apiError('SHRED_DOC_LIMIT_VIOLATION', {
        what: 'The count of values in the JSON',
        actual: `over ${limits.bodyValuesMax}`,
        max: limits.bodyValuesMax,
        setting: '--max-body-values',
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
