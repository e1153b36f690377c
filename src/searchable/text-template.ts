/**
 * The text by which a document is searched: a field, such as `description`, or several fields in a
 * template, such as `{{title}}. {{text}}`.
 */
import {
  fieldAt,
  parseFieldPath,
  printFieldPath,
  type FieldMap,
  type FieldPath,
} from './field-path.ts'

export interface TextTemplate {
  readonly parts: readonly TemplatePart[]
  /** The paths of all fields, without duplicates. */
  readonly paths: readonly FieldPath[]
  /** Text after the last field. */
  readonly end: string
}

interface TemplatePart {
  /** Text between the previous field, or the start, and this field. */
  readonly before: string
  readonly path: FieldPath
}

/** A template that cannot be used. The message is for users. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
}

/** Prints a number that is an object, with all its digits; undefined if the object is no number. */
export type NumberPrinter = (value: object) => string | undefined

const placeholder = /\{\{(.*?)\}\}/gs

export function parseTemplate(source: string): TextTemplate {
  if (source.trim() === '')
    throw new TemplateError('Name a field or a template with fields.')
  const parts: TemplatePart[] = []
  let at = 0
  for (const match of source.matchAll(placeholder)) {
    parts.push({
      before: source.slice(at, match.index),
      path: checkedPath(match[1]!, source),
    })
    at = match.index + match[0].length
  }
  const end = source.slice(at)
  if (parts.length === 0) {
    if (source.includes('{{'))
      throw new TemplateError(`The template ${JSON.stringify(source)} has no closing }}.`)
    return templateOf([{ before: '', path: checkedPath(source, source) }], '')
  }
  if (end.includes('{{'))
    throw new TemplateError(`The template ${JSON.stringify(source)} has no closing }}.`)
  return templateOf(parts, end)
}

function templateOf(parts: readonly TemplatePart[], end: string): TextTemplate {
  const paths = new Map(parts.map(({ path }) => [printFieldPath(path), path]))
  return { parts, paths: [...paths.values()], end }
}

function checkedPath(text: string, source: string): FieldPath {
  const path = parseFieldPath(text.trim())
  if (path.includes(''))
    throw new TemplateError(
      `${JSON.stringify(source)} names an empty field. Write a field such as description, or a ` +
        'template such as {{title}}. {{text}}.',
    )
  if (path[0]!.startsWith('$') || path[0] === '_id')
    throw new TemplateError(
      `${path[0]!} is not a text field. Name a field of your documents, such as description.`,
    )
  return path
}

/**
 * The text of a document; empty if no field of the template has a text. The text between two
 * fields is left out if one of them is empty, so that no separator is left over.
 */
export function renderTemplate(
  { parts, end }: TextTemplate,
  document: FieldMap,
  printNumber: NumberPrinter,
): string {
  let text = ''
  let isLastFilled = false
  for (const [position, { before, path }] of parts.entries()) {
    const value = textOf(fieldAt(document, path), printNumber)
    isLastFilled = value !== ''
    if (!isLastFilled) continue
    text += (text !== '' || position === 0 ? before : '') + value
  }
  if (isLastFilled) text += end
  return text.trim()
}

/** Strings, numbers, booleans and arrays of them have a text. Objects, dates and null have none. */
function textOf(value: unknown, printNumber: NumberPrinter): string {
  if (typeof value === 'string') return value.trim()
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value))
    return value
      .map((element: unknown) =>
        Array.isArray(element) ? '' : textOf(element, printNumber),
      )
      .filter((text) => text !== '')
      .join(', ')
  if (typeof value !== 'object' || value === null || value instanceof Map) return ''
  return printNumber(value) ?? ''
}
