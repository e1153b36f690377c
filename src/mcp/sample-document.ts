import { isObject, type Value } from '../json/value.ts'
import { fixedLimits } from '../limits.ts'

const { sampleTextLengthMax, sampleElementsMax, sampleValuesMax } = fixedLimits

/**
 * Shortens a document for use as a sample: strings and arrays are truncated, and the number of
 * values is bounded.
 */
export function shorten(document: Value): Value {
  let left = sampleValuesMax
  const show = (value: Value): Value => {
    left--
    if (typeof value === 'string') return shortText(value)
    if (Array.isArray(value)) return showElements(value)
    return isObject(value) ? showMembers(value) : value
  }
  const showElements = (elements: readonly Value[]): Value => {
    const shown = elements.slice(0, left > 0 ? sampleElementsMax : 0).map(show)
    const more = elements.length - shown.length
    return more === 0 ? shown : [...shown, `… and ${more} more`]
  }
  const showMembers = (members: ReadonlyMap<string, Value>): Value => {
    const shown = new Map<string, Value>()
    for (const [name, member] of members) {
      if (left <= 0) {
        shown.set('…', `and ${members.size - shown.size} more`)
        break
      }
      shown.set(shortText(name), show(member))
    }
    return shown
  }
  return show(document)
}

function shortText(text: string): string {
  return text.length > sampleTextLengthMax ? `${text.slice(0, sampleTextLengthMax)}…` : text
}
