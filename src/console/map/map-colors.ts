/** Colours points by the values of a field, with a legend. */
import { fieldsOf } from '../completion/field-paths.ts'
import { shortText } from '../json/value-text.ts'
import {
  extendedKind,
  isObject,
  Numeral,
  valueAt,
  type JsonObject,
  type Value,
} from '../json/value.ts'

/**
 * Colours of categories. Each has a contrast of 3:1 with the surface, in the light and the
 * dark theme.
 */
export const categoryColors = [
  ...['#2c7fc4', '#cc5c1b', '#2b8a52', '#b0539a', '#9a7b00'],
  ...['#7a6fd0', '#c94f5c', '#1f8f98', '#8a7360', '#6d8a1e'],
]

/** Colours of numbers, from the least to the greatest. */
export const rampColors = [
  ...['#3f6fd8', '#6d68cf', '#925fbb', '#b0579d', '#c2577a', '#c65f4f', '#b8741c'],
]

export const otherColor = '#7f8a8e'

export interface LegendEntry {
  readonly color: string
  readonly label: string
  readonly count: number
}

export interface Coloring {
  /** Index into the legend, for each point. */
  readonly entries: Uint8Array
  readonly legend: readonly LegendEntry[]
  readonly kind: 'none' | 'category' | 'ramp'
}

/** Fields by which points can be coloured: fields with scalar values. */
export function colorFields(documents: readonly JsonObject[]): readonly string[] {
  const simple = ['string', 'number', 'boolean', 'date', 'null']
  return fieldsOf(documents.slice(0, 500))
    .filter(
      ({ path, types }) =>
        !path.startsWith('$') && types.some((type) => simple.includes(type)),
    )
    .map(({ path }) => path)
}

export function colorBy(documents: readonly JsonObject[], path: string): Coloring {
  if (path === '') return oneColor(documents.length)
  const names = path.split(/(?<!&)\./).map((name) => name.replace(/&([.&])/g, '$1'))
  const values = documents.map((document) => valueAt(document, names))
  const numbers = values.map(numberOf)
  const present = numbers.filter((number) => number !== undefined)
  const distinct = new Set(present)
  const isNumeric =
    present.length > 0 && present.length >= values.filter(isThere).length * 0.9
  return isNumeric && distinct.size > categoryColors.length
    ? ramp(numbers, values)
    : categories(values)
}

function oneColor(count: number): Coloring {
  return {
    entries: new Uint8Array(count),
    legend: [{ color: categoryColors[0]!, label: 'all', count }],
    kind: 'none',
  }
}

/**
 * Colours by category. Each of the most frequent values has its own colour; all other values share
 * one.
 */
function categories(values: readonly (Value | undefined)[]): Coloring {
  const labels = values.map((value) => (value === undefined ? undefined : labelOf(value)))
  const counts = new Map<string, number>()
  for (const label of labels)
    if (label !== undefined) counts.set(label, (counts.get(label) ?? 0) + 1)
  const first = [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, categoryColors.length)
  const positions = new Map(first.map(([label], position) => [label, position]))
  const colors = colorsOf(first.map(([label]) => label))
  const legend: LegendEntry[] = first.map(([label, count]) => ({
    color: colors.get(label)!,
    label,
    count,
  }))
  const entries = Uint8Array.from(
    labels,
    (label) => (label === undefined ? undefined : positions.get(label)) ?? legend.length,
  )
  const others = entries.filter((entry) => entry === legend.length).length
  if (others > 0) legend.push({ color: otherColor, label: 'others', count: others })
  return { entries, legend, kind: 'category' }
}

/**
 * A colour for each label. It depends on the label, so that a label has the same colour on another
 * sample. If two labels have the same preference, the later one in alphabetical order gets the next
 * free colour.
 */
function colorsOf(labels: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<number>()
  return new Map(
    labels.toSorted().map((label) => {
      let at = hashOf(label) % categoryColors.length
      while (taken.has(at)) at = (at + 1) % categoryColors.length
      taken.add(at)
      return [label, categoryColors[at]!]
    }),
  )
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

/**
 * Colours by number. Divides the range into equal parts, each with its own colour. Values that are
 * not numbers get the last entry of the legend.
 */
function ramp(
  numbers: readonly (number | undefined)[],
  values: readonly (Value | undefined)[],
): Coloring {
  const present = numbers.filter((number) => number !== undefined)
  const least = present.reduce((a, b) => Math.min(a, b))
  const greatest = present.reduce((a, b) => Math.max(a, b))
  const steps = rampColors.length
  const entries = Uint8Array.from(numbers, (number) =>
    number === undefined
      ? steps
      : Math.min(steps - 1, Math.floor(((number - least) / (greatest - least)) * steps)),
  )
  const isDate = values.some((value) => extendedKind(value ?? null) === '$date')
  const bound = (step: number) =>
    formatBound(least + ((greatest - least) * step) / steps, isDate)
  const legend: LegendEntry[] = rampColors.map((color, step) => ({
    color,
    label: `${bound(step)} – ${bound(step + 1)}`,
    count: entries.filter((entry) => entry === step).length,
  }))
  const others = entries.filter((entry) => entry === steps).length
  if (others > 0) legend.push({ color: otherColor, label: 'no number', count: others })
  return { entries, legend, kind: 'ramp' }
}

function formatBound(value: number, isDate: boolean): string {
  if (isDate) return new Date(value).toISOString().slice(0, 10)
  return Number(value.toPrecision(4)).toLocaleString('en', {
    useGrouping: Math.abs(value) >= 1e4,
  })
}

function numberOf(value: Value | undefined): number | undefined {
  if (value instanceof Numeral) {
    const number = Number(value.text)
    return Number.isFinite(number) ? number : undefined
  }
  if (!isObject(value) || extendedKind(value) !== '$date') return undefined
  return numberOf(value.get('$date'))
}

function isThere(value: Value | undefined): boolean {
  return value !== undefined && value !== null
}

function labelOf(value: Value): string {
  const text = shortText(value)
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
