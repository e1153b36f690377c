import { isObject, type Value } from '../json/value.ts'

/** Characters of a text that are shown of it. */
const textMax = 300
/** Elements of an array. */
const elementsMax = 5
/** Values of a document in all; what comes after these is left out. */
const valuesMax = 200

/** A document as an example of its kind: long texts, arrays and the rest are cut. */
export function shorten(document: Value): Value {
  let left = valuesMax
  const show = (value: Value): Value => {
    left--
    if (typeof value === 'string') return shortText(value)
    if (Array.isArray(value)) return showElements(value)
    return isObject(value) ? showMembers(value) : value
  }
  const showElements = (elements: readonly Value[]): Value => {
    const shown = elements.slice(0, left > 0 ? elementsMax : 0).map(show)
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
  return text.length > textMax ? `${text.slice(0, textMax)}…` : text
}
