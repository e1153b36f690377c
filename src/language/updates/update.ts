/** Parsed updates, and their effect on a document. parse-update.ts parses them. */
import { apiError, type ApiError } from '../../errors/api-error.ts'
import { addNumeric, multiplyNumeric } from '../../json/decimal.ts'
import {
  isNumeric,
  jsonTypeOf,
  type JsonObject,
  type Numeric,
  type Value,
} from '../../json/value.ts'
import type { Limits } from '../../limits.ts'
import type { Steps } from '../../runtime/steps.ts'
import { Draft } from './draft.ts'
import type { Path } from '../values/path.ts'
import { ValueSet } from '../values/value-set.ts'
import {
  comparisonsPerElement,
  withoutPulled,
  type PulledElements,
} from './pulled-elements.ts'
import { compareForUpdate } from './update-order.ts'

/** Actions in the order in which they run. */
export interface Update {
  readonly actions: readonly UpdateAction[]
}

/** One operator on one path. The paths of an update do not overlap. */
export type UpdateAction =
  | {
      readonly operator: '$set' | '$setOnInsert' | '$min' | '$max'
      readonly path: Path
      readonly value: Value
    }
  | { readonly operator: '$inc' | '$mul'; readonly path: Path; readonly by: Numeric }
  | { readonly operator: '$unset' | '$currentDate'; readonly path: Path }
  | { readonly operator: '$rename'; readonly path: Path; readonly to: Path }
  | { readonly operator: '$pop'; readonly path: Path; readonly end: 'first' | 'last' }
  | {
      readonly operator: '$push'
      readonly path: Path
      readonly values: readonly Value[]
      /** Position of the element to insert before; absent: append. */
      readonly position: number | undefined
    }
  | {
      readonly operator: '$addToSet'
      readonly path: Path
      readonly values: readonly Value[]
    }
  | {
      readonly operator: '$pull' | '$pullAll'
      readonly path: Path
      readonly pulled: PulledElements
    }

export type Operator = UpdateAction['operator']

export interface UpdateContext {
  /** Whether an upsert creates the document. */
  readonly inserting: boolean
  readonly nowMs: number
  readonly limits: Limits
}

/**
 * Applies an update without modifying the given document. The result shares unchanged parts with
 * the document, and is the same object if nothing changed. The caller must validate the result like
 * an inserted document.
 */
export function* applyUpdate(
  update: Update,
  document: JsonObject,
  context: UpdateContext,
): Steps<{ readonly document: JsonObject; readonly changed: boolean }> {
  const draft = new Draft(document, context.limits)
  checkPulls(update, draft, context.limits)
  for (const [i, action] of update.actions.entries()) {
    if (i > 0) yield
    yield* apply(action, draft, context)
  }
  return { document: draft.document, changed: draft.changed }
}

function* apply(action: UpdateAction, draft: Draft, context: UpdateContext): Steps<void> {
  const { operator, path } = action
  switch (action.operator) {
    case '$set':
      yield* set(action, draft)
      return
    case '$setOnInsert':
      if (context.inserting) yield* set(action, draft)
      return
    case '$unset':
      yield* draft.remove(path)
      // $vector is the embedding of $vectorize, so removing either of them removes both.
      if (path.text === '$vector') yield* draft.remove(vectorizePath)
      if (path.text === '$vectorize') yield* draft.remove(vectorPath)
      return
    case '$min':
    case '$max': {
      const sign = action.operator === '$min' ? -1 : 1
      const old = draft.find(path)
      if (old === undefined || compareForUpdate(action.value, old) * sign > 0)
        yield* draft.write(operator, path, action.value)
      return
    }
    case '$inc':
    case '$mul':
      yield* draft.write(
        operator,
        path,
        calculate(action, draft.find(path), context.limits),
      )
      return
    case '$currentDate':
      yield* draft.write(operator, path, new Map([['$date', context.nowMs]]))
      return
    case '$rename':
      yield* rename(action, draft)
      return
    case '$push':
      yield* draft.write(operator, path, pushed(arrayAt(action, draft.find(path)), action))
      // $push without values also counts as a change.
      draft.changed = true
      return
    case '$pop': {
      const found = draft.find(path)
      if (found === undefined) return
      const array = arrayAt(action, found)
      const rest = action.end === 'first' ? array.slice(1) : array.slice(0, -1)
      yield* draft.write(operator, path, rest)
      return
    }
    case '$addToSet': {
      const old = arrayAt(action, draft.find(path))
      yield* draft.write(operator, path, yield* union(old, action.values))
      return
    }
    case '$pull':
    case '$pullAll': {
      const found = draft.find(path)
      if (found === undefined) return
      const rest = yield* withoutPulled(arrayAt(action, found), action.pulled)
      if (rest !== found) yield* draft.write(operator, path, rest as Value[])
    }
  }
}

/**
 * Limits the comparisons of $pull before they start, because arrays that are not indexed may be
 * long.
 */
function checkPulls(update: Update, draft: Draft, limits: Limits): void {
  let count = 0
  for (const action of update.actions) {
    if (!('pulled' in action)) continue
    const array = draft.find(action.path)
    if (!Array.isArray(array)) continue
    count += array.length * comparisonsPerElement(action.pulled)
    if (count > limits.pullComparisonsMax)
      throw apiError('UNSUPPORTED_UPDATE_OPERATION_PARAM', {
        reason: 'tooManyComparisons',
        operator: action.operator,
        path: action.path.text,
        count,
        elements: array.length,
        max: limits.pullComparisonsMax,
      })
  }
}

const vectorPath: Path = { text: '$vector', segments: ['$vector'] }
const vectorizePath: Path = { text: '$vectorize', segments: ['$vectorize'] }

function* set(
  { operator, path, value }: Extract<UpdateAction, { value: Value }>,
  draft: Draft,
): Steps<void> {
  yield* draft.write(operator, path, value)
  // The text in $vectorize does not match the new vector, so the text is removed.
  if (path.text === '$vector') yield* draft.remove(vectorizePath)
}

function calculate(
  { operator, path, by }: Extract<UpdateAction, { by: Numeric }>,
  old: Value | undefined,
  limits: Limits,
): Numeric {
  if (old === undefined) return operator === '$inc' ? by : 0
  if (!isNumeric(old)) throw wrongTarget(operator, path, old, 'a Number')
  const result =
    operator === '$inc'
      ? addNumeric(old, by, limits.numeralLengthMax)
      : multiplyNumeric(old, by, limits.numeralLengthMax)
  if (result !== undefined) return result
  throw apiError('SHRED_DOC_LIMIT_VIOLATION', {
    what: `The number of characters of the Number at "${path.text}" after ${operator}`,
    actual: `more than ${limits.numeralLengthMax}`,
    max: limits.numeralLengthMax,
  })
}

function* rename(
  { operator, path, to }: Extract<UpdateAction, { to: Path }>,
  draft: Draft,
): Steps<void> {
  const found = draft.find(path)
  if (found === undefined) return
  for (const end of [path, to])
    if (Array.isArray(draft.holderOf(end)))
      throw apiError('UNSUPPORTED_UPDATE_OPERATION_PATH', {
        operator,
        path: path.text,
        reason: `"${end.text}" is an element of an Array, and only fields can be renamed`,
      })
  yield* draft.remove(path)
  yield* draft.write(operator, to, found)
}

function arrayAt({ operator, path }: UpdateAction, old: Value | undefined): Value[] {
  if (old === undefined) return []
  if (!Array.isArray(old)) throw wrongTarget(operator, path, old, 'an Array')
  return old
}

function pushed(
  array: readonly Value[],
  { values, position }: Extract<UpdateAction, { operator: '$push' }>,
): Value[] {
  if (position === undefined) return [...array, ...values]
  const before = position < 0 ? Math.max(0, array.length + position) : position
  return [...array.slice(0, before), ...values, ...array.slice(before)]
}

/**
 * The array followed by the values that it does not contain, each once. The same array object if it
 * contains all of them.
 */
function* union(array: Value[], values: readonly Value[]): Steps<Value[]> {
  const present = new ValueSet()
  yield* present.add(array)
  const added = yield* present.add(values)
  return added.length === 0 ? array : [...array, ...added]
}

function wrongTarget(
  operator: Operator,
  path: Path,
  old: Value,
  expected: string,
): ApiError {
  return apiError('UNSUPPORTED_UPDATE_OPERATION_TARGET', {
    operator,
    path: path.text,
    type: jsonTypeOf(old),
    expected,
  })
}
