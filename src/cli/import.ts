/** `stela import`: fills a collection or table of a running server from a file. */
import { resolve } from 'node:path'
import { Command, Option } from 'commander'
import { parseAsWritten } from '../json/parse.ts'
import { isObject, type JsonObject } from '../json/value.ts'
import { textFieldsOf } from '../searchable/guess-field.ts'
import {
  hasSearchField,
  noTextSearch,
  searchFieldOf,
  textSearchesOf,
  withSearchText,
} from '../searchable/search-text.ts'
import {
  BadRecord,
  inferValue,
  readByType,
  readText,
  type CellReader,
} from './records/csv.ts'
import { CommandFailure, fileFailure, reportFailures } from './records/failure.ts'
import { newState, StateFile, type ImportState } from './records/import-state.ts'
import { Importer } from './records/importer.ts'
import { Input } from './records/input.ts'
import { Meter } from './records/progress-meter.ts'
import {
  csvReader,
  jsonReader,
  type DocumentCompleter,
  type DocumentReader,
} from './records/read-document.ts'
import { checkRejectsPath, Rejects } from './records/rejects.ts'
import {
  askTemplate,
  canAsk,
  checkTemplate,
  readTemplate,
  searchOptions,
  searchTextOf,
} from './records/search-by.ts'
import { formats, type Format, type RawRecord } from './records/split.ts'
import {
  addTargetOptions,
  connectionsOption,
  embeddingKeyOption,
  RecordTarget,
  type TargetDefinition,
  type TargetOptions,
} from './records/target.ts'

interface ImportOptions extends TargetOptions {
  readonly format?: Format
  readonly types: 'infer' | 'text'
  readonly embed: boolean
  readonly embeddingKey?: string
  readonly create?: boolean
  /** False if the command must not ask. */
  readonly searchBy?: string | false
  readonly connections: number
  readonly rejects?: string
  readonly resume?: boolean
}

export const importCommand = addTargetOptions(
  new Command('import')
    .description('Import a file into a collection or table of a running server.')
    .helpOption('--help', 'show this help')
    .argument('<file>', 'file to import, plain or gzip; - for standard input'),
)
  .addOption(
    new Option(
      '--format <format>',
      'file format (default: detected from name and content)',
    ).choices(formats),
  )
  .addOption(
    new Option(
      '--types <how>',
      'types of CSV cells in collections: infer numbers and booleans, or keep text',
    )
      .choices(['infer', 'text'])
      .default('infer'),
  )
  .option('--create', 'create the collection when it does not exist')
  .option(
    '--search-by <field>',
    'field, or template of fields, by whose text documents are searched',
  )
  .option('--no-search-by', 'do not ask on a terminal for the fields to search')
  .option('--no-embed', 'keep $vector and drop $vectorize where a document has both')
  .addOption(embeddingKeyOption())
  .addOption(connectionsOption())
  .option('--rejects <path>', 'file for rejected records (default: FILE.rejected)')
  .option('--resume', 'resume an interrupted import of the same file')
  .addHelpText(
    'after',
    `
Formats: jsonl is one JSON object per line, json is one array of objects, and csv has field names in
its first line. Empty CSV cells are skipped. In collections, a cell that is a JSON number, true or
false becomes that value; in tables the column type decides.

--search-by description makes documents searchable by the text of that field, and --search-by
'{{title}}. {{text}}' by several. The fields stay as they are. The text is also sent as $hybrid,
$vectorize or $lexical, whichever the collection searches; a collection that --create makes has the
built-in model. On a terminal, the command asks for the field. Documents with search fields of their
own keep them.

Invalid records do not stop an import. They are reported with their line and written unchanged to
FILE.rejected. The exit status is 0 when all records were imported, 2 when some were rejected, and
1 when the import stopped.

FILE.progress records how far an import has come. --resume continues from there, even after the
process was killed, and sends unconfirmed records again. A document with an _id is never stored
twice. Documents without one get a new _id from the server, so up to a few hundred of them may be
stored twice.

Examples:
  export STELA_TOKEN=…                                 set once for all examples
  stela import books.jsonl --collection books --create --search-by description
  stela import people.csv.gz --table people
  zcat dump.gz | stela import - --format jsonl --collection books
`,
  )
  .action((file: string, options: ImportOptions) =>
    reportFailures(() => runImport(file, options)),
  )

async function runImport(path: string, options: ImportOptions): Promise<void> {
  const rejectsPath = options.rejects ?? (path === '-' ? undefined : `${path}.rejected`)
  if (rejectsPath !== undefined) checkRejectsPath(resolve(rejectsPath), resolve(path))
  if (path === '-' && options.resume === true)
    throw new CommandFailure('--resume needs a file: standard input cannot be read again.')
  const { connections, embeddingKey: key } = options
  const headers = key === undefined ? {} : { 'x-embedding-api-key': key }
  const target = new RecordTarget(options, { connections, headers })
  if (options.create === true && target.kind === 'table')
    throw new CommandFailure(
      '--create applies only to collections. Create the table first, with its columns.',
    )

  const input = await Input.open(path, options.format)
  const { readers, groups, textless } = await prepare(input, target, options)
  const progress = new Progress(input, target, options.resume === true)
  const { state } = progress
  const noun = target.kind === 'table' ? 'rows' : 'documents'
  const startedWith = state.done
  const meter = new Meter(noun, () => ({
    count: state.done - startedWith,
    part: input.partRead,
  }))
  const rejects = new Rejects(rejectsPath, input.format, state.rejectsSize, (line) => {
    meter.clear()
    process.stderr.write(`stela: ${line}\n`)
  })
  const stopListening = onSignal(() => {
    meter.clear()
    process.stderr.write(`stela: interrupted. ${progress.advice()}\n`)
  })
  try {
    await importAll(groups, readers, rejects, {
      target,
      rejects,
      connections,
      state,
      save: () => progress.save(),
    })
  } catch (error) {
    meter.finish(0)
    if (!(error instanceof CommandFailure)) throw error
    throw new CommandFailure(`${error.message} ${progress.advice()}`)
  } finally {
    stopListening()
    rejects.close()
    target.close()
  }
  progress.remove()
  const pace = meter.finish(state.done - startedWith)
  process.stderr.write(
    `stela: ${summary(state, noun, rejects.lost, rejectsPath)}, ${pace}\n`,
  )
  if (textless() > 0)
    process.stderr.write(
      `stela: ${textless()} of the records have no text to search by, so no search finds them\n`,
    )
  if (state.rejected > 0) process.exitCode = 2
}

interface Prepared {
  readonly readers: Readers
  readonly groups: AsyncIterable<readonly RawRecord[]>
  /** Number of records so far without a text to search by. */
  readonly textless: () => number
}

/**
 * Finds or creates the target, and decides by which text its documents are searched. For this
 * decision, the first records are read before anything is created or sent.
 */
async function prepare(
  input: Input,
  target: RecordTarget,
  options: ImportOptions,
): Promise<Prepared> {
  const named = typeof options.searchBy === 'string' ? options.searchBy : undefined
  const found = options.create === true ? await target.find() : await target.open()
  if (named !== undefined && target.kind === 'table')
    throw new CommandFailure(
      '--search-by applies only to collections. A table is searched by the columns that have ' +
        'a vector index or a text index.',
    )
  const asks =
    options.searchBy === undefined &&
    target.kind === 'collection' &&
    input.path !== '-' &&
    canAsk() &&
    (found === undefined || searchFieldOf(textSearchesOf(found.options)) !== undefined)
  const plain = (columns: ReadonlyMap<string, string>): Readers =>
    documentReaders(input, columns, options, (document) => document)
  if (!asks && named === undefined) {
    const { columns } = found ?? (await target.create(new Map()))
    return { readers: plain(columns), groups: input.records(), textless: () => 0 }
  }
  const records = input.records()
  const first = await firstOf(records)
  const groups = continued(first, records)
  const sample = sampleOf(first, plain(new Map()))
  const source = asks ? await askFor(sample) : named
  if (source === undefined) {
    const { columns } = found ?? (await target.create(new Map()))
    return { readers: plain(columns), groups, textless: () => 0 }
  }
  const template = readTemplate(source, '--search-by')
  checkTemplate(source, template, sample, '--search-by')
  const { options: own } = found ?? (await createSearched(target))
  const searches = textSearchesOf(own)
  if (searchFieldOf(searches) === undefined) throw new CommandFailure(noTextSearch)
  let textless = 0
  const complete: DocumentCompleter = (document) => {
    const text = searchTextOf(template, document)
    if (text === '' && !hasSearchField(document)) textless++
    return withSearchText(document, text, searches) as JsonObject
  }
  const readers = documentReaders(input, new Map(), options, complete)
  return { readers, groups, textless: () => textless }
}

/** Asks for the text to search by, unless the file has search fields or nothing to search. */
async function askFor(sample: readonly JsonObject[]): Promise<string | undefined> {
  if (sample.some(hasSearchField) || textFieldsOf(sample).length === 0) return undefined
  return askTemplate(sample, { isOptional: true })
}

async function createSearched(target: RecordTarget): Promise<TargetDefinition> {
  const { options, model } = await searchOptions(target)
  const created = await target.create(options)
  process.stderr.write(
    model === undefined
      ? `stela: created ${target.name} without a model, because the server has none built in\n`
      : `stela: created ${target.name} with the built-in model ${model}\n`,
  )
  return created
}

/** The documents of the first records that are valid. */
function sampleOf(records: readonly RawRecord[], readers: Readers): readonly JsonObject[] {
  const [header, ...rest] = records
  if (header === undefined) return []
  const read = readers.first ?? readers.afterHeader(header)
  const sampled = (readers.first === undefined ? rest : records).slice(0, sampledMax)
  return sampled.flatMap((record) => {
    const text = read(record)
    const document = text instanceof BadRecord ? undefined : parseAsWritten(text)
    return isObject(document) ? [document] : []
  })
}

/** Records by which the fields with texts are found. */
const sampledMax = 200

/** Records that are enough to find them. */
const sampledMin = 20

/** Reads records until they are enough for a sample, or until the input ends. */
async function firstOf(
  records: AsyncGenerator<readonly RawRecord[], void>,
): Promise<readonly RawRecord[]> {
  const first: RawRecord[] = []
  while (first.length <= sampledMin) {
    const { done, value } = await records.next()
    if (done === true) break
    for (const record of value) first.push(record)
  }
  return first
}

async function* continued<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield first
  yield* rest
}

/** Imports all records of the input. The first record of a CSV file is its header. */
async function importAll(
  groups: AsyncIterable<readonly RawRecord[]>,
  readers: Readers,
  rejects: Rejects,
  options: ConstructorParameters<typeof Importer>[0],
): Promise<void> {
  const importer = new Importer(options)
  let read = readers.first
  try {
    for await (const records of groups)
      for (const record of records) {
        if (read !== undefined) await importer.add(record, read)
        else {
          read = readers.afterHeader(record)
          rejects.header = record.bytes
        }
      }
  } catch (error) {
    // Waits for the batches in flight, so that the state includes their records.
    await importer.settle().catch(() => undefined)
    throw error
  }
  await importer.finish()
}

interface Readers {
  /** Reader of the first record; undefined for CSV, where the first record is the header. */
  readonly first: DocumentReader | undefined
  readonly afterHeader: (header: Parameters<DocumentReader>[0]) => DocumentReader
}

function documentReaders(
  input: Input,
  columnTypes: ReadonlyMap<string, string>,
  { types, embed, table }: ImportOptions,
  complete: DocumentCompleter,
): Readers {
  const readCell: CellReader =
    table !== undefined
      ? readByType(columnTypes)
      : types === 'infer'
        ? inferValue
        : readText
  return {
    first: input.format === 'csv' ? undefined : jsonReader(embed, complete),
    afterHeader: (header) => csvReader(header, readCell, complete),
  }
}

/** State of an import; saved to a file unless the input is standard input. */
class Progress {
  readonly state: ImportState
  readonly #file: StateFile | undefined
  #isKept = false

  constructor(input: Input, target: RecordTarget, resumes: boolean) {
    const { identity } = input
    this.#file =
      identity === undefined
        ? undefined
        : new StateFile(`${input.path}.progress`, {
            input: identity,
            target: target.address,
          })
    if (!resumes) this.#checkFresh()
    this.state = (resumes ? this.#resumed() : undefined) ?? newState()
    try {
      this.#file?.write(this.state)
      this.#isKept = this.#file !== undefined
    } catch (error) {
      const { message } = fileFailure(error)
      if (resumes) throw new CommandFailure(message)
      process.stderr.write(`stela: this import cannot be resumed: ${message}\n`)
    }
  }

  #resumed(): ImportState | undefined {
    const state = this.#file?.read()
    if (state === undefined)
      process.stderr.write(
        'stela: no interrupted import to resume; starting from the beginning\n',
      )
    return state
  }

  /**
   * Throws when an earlier import of this file was interrupted: starting over by mistake
   * would insert documents without _id twice.
   */
  #checkFresh(): void {
    const file = this.#file
    if (file !== undefined && (file.readIfSound()?.sent ?? 0) > 0)
      throw new CommandFailure(
        'an earlier import of this file was interrupted. Continue it with --resume, ' +
          `or remove ${file.path} to start from the beginning.`,
      )
  }

  save(): void {
    if (this.#isKept) this.#file!.write(this.state)
  }

  remove(): void {
    if (this.#isKept) this.#file!.remove()
  }

  /** Describes the progress of an import that stops now, and how to resume it. */
  advice(): string {
    const { done, sent } = this.state
    if (sent === 0) {
      this.remove()
      return 'Nothing was imported.'
    }
    if (!this.#isKept) return `The first ${done} records were processed.`
    return `${done} records were processed. Run the same command with --resume to continue.`
  }
}

function summary(
  { inserted, there, rejected, rejectsSize }: ImportState,
  noun: string,
  lost: number,
  rejectsPath: string | undefined,
): string {
  const parts = [`imported ${inserted} ${inserted === 1 ? noun.replace(/s$/, '') : noun}`]
  if (there > 0) parts.push(`${there} already stored by an interrupted request`)
  if (rejected > 0) {
    const kept =
      rejectsPath === undefined || rejectsSize === 0
        ? 'not saved'
        : `saved in ${rejectsPath}${lost > 0 ? `, except ${lost}` : ''}`
    parts.push(`rejected ${rejected} (${kept})`)
  }
  return parts.join(', ')
}

/**
 * On SIGINT or SIGTERM, calls `say` and exits. The process can exit at once, because the state is
 * saved before each batch is sent. Returns a function that removes the handlers.
 */
function onSignal(say: () => void): () => void {
  const leave = () => {
    say()
    process.exit(1)
  }
  process.on('SIGINT', leave).on('SIGTERM', leave)
  return () => void process.off('SIGINT', leave).off('SIGTERM', leave)
}
