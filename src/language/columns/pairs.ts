import { jsonTypeOf, type Value } from '../../json/value.ts'
import { quoteJson } from '../values/quote-json.ts'
import { BadValue } from './bad-value.ts'

/** Reads the alternative notation of an object, with keys of any type: [[key, value], …]. */
export function readPairs(
  value: Value,
  takes: string,
): readonly (readonly [Value, Value])[] | BadValue {
  if (!Array.isArray(value))
    return new BadValue(`is of type ${jsonTypeOf(value)}, but ${takes}`)
  if (value.length === 0)
    return new BadValue('is an empty array; write {} for an empty value')
  const pairs: (readonly [Value, Value])[] = []
  for (const [position, pair] of value.entries()) {
    if (!Array.isArray(pair) || pair.length !== 2)
      return new BadValue(`has ${quoteJson(pair)} at position ${position}, but ${takes}`)
    pairs.push([pair[0]!, pair[1]!])
  }
  return pairs
}
