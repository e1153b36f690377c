/** Request bodies: from bytes to a JSON value. */
import { isUtf8 } from 'node:buffer'
import type { Deadline } from '../caller/caller.ts'
import { apiError, type ApiError } from '../errors/api-error.ts'
import {
  JsonProblem,
  parseJson,
  parseJsonInSteps,
  type ParseLimits,
} from '../json/parse.ts'
import type { Value } from '../json/value.ts'
import { measureValues } from '../json/weight.ts'
import type { Limits } from '../limits.ts'
import { inTurns } from '../runtime/steps.ts'

/**
 * Parses a body as JSON; throws an ApiError when it is invalid. Large bodies are parsed in slices,
 * after `makeRoom` has reserved memory for their values.
 */
export function parseBody(
  bytes: Buffer,
  limits: Limits,
  deadline: Deadline,
  makeRoom?: (size: number) => Promise<void>,
): Value | Promise<Value> {
  if (bytes.length === 0) throw emptyBody()
  if (!isUtf8(bytes))
    throw apiError('REQUEST_NOT_JSON', { problem: 'its bytes are not valid UTF-8' })
  return bytes.length < smallBodySize
    ? parseSmall(bytes.toString('utf8'), limits)
    : parseLarge(bytes, limits, deadline, makeRoom)
}

function parseSmall(text: string, limits: Limits): Value {
  try {
    return parseJson(text, parseLimits(limits))
  } catch (problem) {
    throw explain(problem, text, limits)
  }
}

async function parseLarge(
  bytes: Buffer,
  limits: Limits,
  deadline: Deadline,
  makeRoom: ((size: number) => Promise<void>) | undefined,
): Promise<Value> {
  const { size, values } = await inTurns(measureValues(bytes), deadline)
  if (values > limits.bodyValuesMax) throw tooManyValues(limits)
  await makeRoom?.(size + copiesOfText * bytes.length)
  const text = bytes.toString('utf8')
  try {
    return await inTurns(parseJsonInSteps(text, parseLimits(limits)), deadline)
  } catch (problem) {
    throw explain(problem, text, limits)
  }
}

function parseLimits(limits: Limits): ParseLimits {
  return {
    depthMax: limits.jsonDepthMax,
    numeralLengthMax: limits.numeralLengthMax,
    valuesMax: limits.bodyValuesMax,
  }
}

/** Bodies up to this many bytes are parsed without pausing, in less than 1 ms. */
const smallBodySize = 65_536

/**
 * Estimated number of copies of a body's characters in memory while its command runs: the text,
 * parsed strings, texts of documents, and data for the engine.
 */
const copiesOfText = 8

/** Converts an error of the JSON parser to an ApiError; returns other errors unchanged. */
function explain(problem: unknown, text: string, limits: Limits): unknown {
  return problem instanceof JsonProblem ? explainProblem(problem, text, limits) : problem
}

function explainProblem(problem: JsonProblem, text: string, limits: Limits): ApiError {
  switch (problem.kind) {
    case 'syntax':
      return text.trim() === ''
        ? emptyBody()
        : apiError('REQUEST_NOT_JSON', { problem: problem.message })
    case 'depth':
      return apiError('SHRED_DOC_LIMIT_VIOLATION', {
        what: 'The nesting depth of the JSON',
        actual: `more than ${limits.jsonDepthMax}`,
        max: limits.jsonDepthMax,
      })
    case 'values':
      return tooManyValues(limits)
    case 'numeral':
      return apiError('SHRED_DOC_LIMIT_VIOLATION', {
        what: `The length of the number at offset ${problem.offset}`,
        actual: problem.numeralLength ?? `more than ${limits.numeralLengthMax}`,
        max: limits.numeralLengthMax,
      })
  }
}

function tooManyValues({ bodyValuesMax }: Limits): ApiError {
  return apiError('TOO_MANY_VALUES_IN_BODY', {
    max: bodyValuesMax,
    setting: '--max-body-values',
  })
}

function emptyBody(): ApiError {
  return apiError('COMMAND_FIELD_VALUE_INVALID', {
    field: 'command',
    value: '`null`',
    reason: 'the body is empty; send {"<command>": {<fields>}}',
  })
}
