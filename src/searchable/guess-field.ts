/** Proposes the field by whose text documents are probably searched. */
import { printFieldPath, type FieldMap, type FieldPath } from './field-path.ts'

/** A field with texts in the sampled documents. */
export interface FieldTexts {
  /** The path as a template names it. */
  readonly name: string
  /** Share of the sampled documents in which the field has a text. */
  readonly share: number
  /** Mean number of characters of the texts. */
  readonly length: number
  /** Share of the texts that have several words. */
  readonly phrases: number
}

/** Nesting levels that are searched for texts. */
const depthMax = 3
const fieldsMax = 500

interface TextTally {
  readonly path: FieldPath
  count: number
  length: number
  phrases: number
}

/** All fields with texts, the best proposal first. */
export function textFieldsOf(documents: readonly FieldMap[]): readonly FieldTexts[] {
  const tallies = new Map<string, TextTally>()
  const visit = (object: FieldMap, above: FieldPath) => {
    for (const [name, value] of object) {
      if (name === '_id' || name === '' || name.startsWith('$')) continue
      const path = [...above, name]
      if (value instanceof Map) {
        if (path.length < depthMax) visit(value as FieldMap, path)
      } else if (typeof value === 'string' && value.trim() !== '')
        count(tallies, path, value)
    }
  }
  for (const document of documents) visit(document, [])
  return [...tallies]
    .map(([name, tally]) => ({
      name,
      share: tally.count / documents.length,
      length: tally.length / tally.count,
      phrases: tally.phrases / tally.count,
    }))
    .toSorted((one, other) => worthOf(other) - worthOf(one))
}

function count(tallies: Map<string, TextTally>, path: FieldPath, text: string): void {
  const name = printFieldPath(path)
  let tally = tallies.get(name)
  if (tally === undefined) {
    if (tallies.size === fieldsMax) return
    tally = { path, count: 0, length: 0, phrases: 0 }
    tallies.set(name, tally)
  }
  tally.count++
  tally.length += text.length
  if (/\S\s+\S/.test(text.trim())) tally.phrases++
}

/** The field to propose; undefined if no field has texts of several words. */
export function guessTextField(documents: readonly FieldMap[]): string | undefined {
  const [best] = textFieldsOf(documents)
  return best !== undefined && best.phrases >= 0.5 ? best.name : undefined
}

/** Names that usually stand for the text of a document. */
const textNames =
  /(?:^|[._ -])(?:abstract|body|content|description|overview|plot|review|summary|text)s?$/i

/**
 * Rates a field: long texts of several words that most documents have come first. Texts without
 * spaces are links, codes or categories.
 */
function worthOf({ name, share, length, phrases }: FieldTexts): number {
  const named = textNames.test(name) ? 2 : 1
  return phrases * share * Math.log2(1 + length) * named
}
