/** The template whose text makes documents searchable: from an option, or from a question. */
import { createInterface } from 'node:readline/promises'
import type { JsonObject, Value } from '../../json/value.ts'
import { isDecimal, isObject } from '../../json/value.ts'
import type { FieldMap } from '../../searchable/field-path.ts'
import { guessTextField, textFieldsOf } from '../../searchable/guess-field.ts'
import {
  parseTemplate,
  renderTemplate,
  TemplateError,
  type TextTemplate,
} from '../../searchable/text-template.ts'
import { memberAt } from './api-client.ts'
import { CommandFailure } from './failure.ts'
import type { RecordTarget } from './target.ts'

/** Parses a template. `option` names it in messages. */
export function readTemplate(source: string, option: string): TextTemplate {
  try {
    return parseTemplate(source)
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    throw new CommandFailure(`${option}: ${error.message}`)
  }
}

/** The text of a document by a template; empty if it has none. */
export function searchTextOf(template: TextTemplate, document: FieldMap): string {
  return renderTemplate(template, document, printDecimal)
}

/** Prints the only kind of object that is a number. */
export function printDecimal(value: object): string | undefined {
  return isDecimal(value as Value) ? (value as { decimal: string }).decimal : undefined
}

/**
 * Throws if no document of the sample has a text, because the name of a field is then probably
 * wrong.
 */
export function checkTemplate(
  source: string,
  template: TextTemplate,
  sample: readonly JsonObject[],
  option: string,
): void {
  if (sample.length === 0) return
  if (sample.some((document) => searchTextOf(template, document) !== '')) return
  throw new CommandFailure(
    `${option} ${source}: none of the first ${sample.length} documents has a text in it. ` +
      fieldsWithTexts(sample),
  )
}

/** A sentence that lists the fields of a sample with texts, the best proposal first. */
export function fieldsWithTexts(sample: readonly FieldMap[]): string {
  const names = textFieldsOf(sample).map(({ name }) => name)
  if (names.length === 0) return 'No field of them has texts.'
  const more = names.length > listedMax ? `, and ${names.length - listedMax} more` : ''
  return `Fields with texts: ${names.slice(0, listedMax).join(', ')}${more}.`
}

const listedMax = 10

/** Whether a person can answer questions. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY
}

/**
 * Asks which fields to search, and proposes one. Returns undefined if the answer is `-` and
 * `isOptional` is set.
 */
export async function askTemplate(
  sample: readonly FieldMap[],
  { isOptional }: { readonly isOptional: boolean },
): Promise<string | undefined> {
  const proposed = guessTextField(sample)
  process.stderr.write(
    `${fieldsWithTexts(sample)}\n` +
      'Several fields make a template, such as {{title}}. {{text}}.' +
      `${isOptional ? ' Write - to import without a text to search by.' : ''}\n`,
  )
  const hint = proposed === undefined ? '' : ` [${proposed}]`
  for (;;) {
    const typed = (await ask(`Search by the text of${hint}: `)).trim()
    const answer = typed === '' ? (proposed ?? '') : typed
    if (isOptional && answer === '-') return undefined
    try {
      parseTemplate(answer)
      return answer
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error
      process.stderr.write(`${error.message}\n`)
    }
  }
}

/** Asks a question on standard error. Throws if the input ends without an answer. */
async function ask(question: string): Promise<string> {
  const ended = new AbortController()
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  lines.once('close', () => ended.abort())
  try {
    return await lines.question(question, { signal: ended.signal })
  } catch (error) {
    if (!ended.signal.aborted) throw error
    process.stderr.write('\n')
    throw new CommandFailure('stopped at the question. Nothing was changed.')
  } finally {
    lines.close()
  }
}

/**
 * Options of a new collection that searches texts: with the built-in model, if the server has one.
 * Lexical search has the default of the server.
 */
export async function searchOptions(target: RecordTarget): Promise<{
  readonly options: JsonObject
  readonly model: string | undefined
}> {
  const answer = await target.askServer('{"findEmbeddingProviders":{}}')
  const models = memberAt(answer.body, 'status', 'embeddingProviders', 'local', 'models')
  const first = Array.isArray(models) ? models[0] : undefined
  const name = isObject(first) ? first.get('name') : undefined
  if (typeof name !== 'string') return { options: new Map(), model: undefined }
  const service = new Map([
    ['provider', 'local'],
    ['modelName', name],
  ])
  return { options: new Map([['vector', new Map([['service', service]])]]), model: name }
}
