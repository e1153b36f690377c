/** `stela embed`: makes the documents of a collection searchable by the text of their fields. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { JsonProblem, parseAsWritten } from '../json/parse.ts'
import { printJson } from '../json/print.ts'
import { isNumeric, isObject, type JsonObject, type Value } from '../json/value.ts'
import {
  embedDocuments,
  EmbedStop,
  type CommandTree,
  type EmbedCounts,
  type EmbedReply,
} from '../searchable/embed-documents.ts'
import { noTextSearch, searchFieldOf, textSearchesOf } from '../searchable/search-text.ts'
import { memberAt } from './records/api-client.ts'
import { CommandFailure, reportFailures } from './records/failure.ts'
import { Meter } from './records/progress-meter.ts'
import {
  askTemplate,
  canAsk,
  checkTemplate,
  fieldsWithTexts,
  printDecimal,
  readTemplate,
} from './records/search-by.ts'
import {
  addServerOptions,
  connectionsOption,
  embeddingKeyOption,
  RecordTarget,
  type ServerOptions,
} from './records/target.ts'

interface EmbedCommandOptions extends ServerOptions {
  readonly collection: string
  readonly from?: string
  readonly filter?: JsonObject
  readonly refresh?: boolean
  readonly embeddingKey?: string
  readonly connections: number
}

export const embedCommand = addServerOptions(
  new Command('embed')
    .description('Make the documents of a collection searchable by a text of their fields.')
    .helpOption('--help', 'show this help'),
)
  .requiredOption('--collection <name>', 'collection')
  .option(
    '--from <field>',
    'field, or template of fields, whose text is searched; asked for on a terminal',
  )
  .addOption(
    new Option('--filter <json>', 'embed only the documents that match').argParser(
      readFilter,
    ),
  )
  .option('--refresh', 'embed documents again whose fields have changed since')
  .addOption(embeddingKeyOption())
  .addOption(connectionsOption())
  .addHelpText(
    'after',
    `
--from description searches documents by the text of that field, and --from '{{title}}. {{text}}' by
several. The fields stay as they are. The text is set as $vectorize, as $lexical, or as both,
whichever the collection searches.

Documents that have a vector or a text of their own keep it, so a run continues where an earlier one
was stopped or killed: run the same command again. A document that another client changes meanwhile
is embedded with its new text, and no change of the other client is lost.

The exit status is 0 when all documents are searchable or have no text, 2 when some failed, and 1
when the run stopped before the end.

Examples:
  export STELA_TOKEN=…                                 set once for all examples
  stela embed --collection books --from description
  stela embed --collection books --from '{{title}}. {{text}}' --filter '{"language": "en"}'
`,
  )
  .action((options: EmbedCommandOptions) => reportFailures(() => runEmbed(options)))

function readFilter(text: string): JsonObject {
  try {
    const filter = parseAsWritten(text)
    if (isObject(filter)) return filter
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error
    throw new InvalidArgumentError(`It is not valid JSON: ${error.message}.`)
  }
  throw new InvalidArgumentError('It must be a JSON object such as {"year": 1965}.')
}

async function runEmbed(options: EmbedCommandOptions): Promise<void> {
  const { connections, embeddingKey: key, filter } = options
  const headers = key === undefined ? {} : { 'x-embedding-api-key': key }
  const target = new RecordTarget(options, { connections: connections + 1, headers })
  try {
    const { options: collection } = await target.open()
    if (searchFieldOf(textSearchesOf(collection)) === undefined)
      throw new CommandFailure(noTextSearch)
    const sample = await readSample(target, filter)
    const source = await templateFor(options.from, sample)
    const template = readTemplate(source, '--from')
    checkTemplate(source, template, sample, '--from')
    const total = await countTotal(target, filter)
    let counts: EmbedCounts | undefined
    const meter = new Meter('documents', () => ({
      count: counts?.seen ?? 0,
      part: total === undefined ? undefined : Math.min(1, (counts?.seen ?? 0) / total),
    }))
    const failures = new FailureLines(meter)
    const stopping = stopOnSignal(meter)
    try {
      await embedDocuments({
        template,
        collection,
        filter,
        refreshes: options.refresh === true,
        concurrency: connections,
        printNumber: printDecimal,
        send: (command) => sendCommand(target, command),
        onProgress: (latest) => (counts = latest),
        onFailure: ({ id, message }) => failures.add(printJson(id as Value), message),
        signal: stopping.signal,
      })
    } catch (error) {
      meter.finish(0)
      if (!(error instanceof EmbedStop || error instanceof CommandFailure)) throw error
      throw new CommandFailure(`${error.message} ${adviceFor(counts)}`)
    } finally {
      stopping.end()
    }
    const pace = meter.finish(counts?.seen ?? 0)
    if (stopping.signal.aborted) throw new CommandFailure(`stopped. ${adviceFor(counts)}`)
    process.stderr.write(
      `stela: ${counts === undefined ? 'no documents' : summaryOf(counts)}, ${pace}\n`,
    )
    if ((counts?.failed ?? 0) > 0) process.exitCode = 2
  } finally {
    target.close()
  }
}

/** Documents that are read to find fields with texts. */
async function readSample(
  target: RecordTarget,
  filter: JsonObject | undefined,
): Promise<readonly JsonObject[]> {
  const fields = new Map<string, Value>(filter === undefined ? [] : [['filter', filter]])
  const reply = await sendCommand(target, new Map([['find', fields]]))
  const [error] = reply.errors
  if (error !== undefined) throw new CommandFailure(`${error.code}: ${error.message}`)
  return reply.documents as readonly JsonObject[]
}

async function templateFor(
  from: string | undefined,
  sample: readonly JsonObject[],
): Promise<string> {
  if (from !== undefined) return from
  if (!canAsk())
    throw new CommandFailure(
      `--from is missing. Name a field, or a template of fields. ${fieldsWithTexts(sample)}`,
    )
  return (await askTemplate(sample, { isOptional: false }))!
}

/** Number of documents to read; undefined if the server counts no further. */
async function countTotal(
  target: RecordTarget,
  filter: JsonObject | undefined,
): Promise<number | undefined> {
  const command =
    filter === undefined
      ? '{"estimatedDocumentCount":{}}'
      : `{"countDocuments":{"filter":${printJson(filter)}}}`
  const { body } = await target.send(command)
  const count = memberAt(body, 'status', 'count')
  const hasMore = memberAt(body, 'status', 'moreData') === true
  return isNumeric(count) && !hasMore && Number(count) > 0 ? Number(count) : undefined
}

async function sendCommand(
  target: RecordTarget,
  command: CommandTree,
): Promise<EmbedReply> {
  const { body, errors } = await target.send(printJson(command as JsonObject))
  const many = memberAt(body, 'data', 'documents')
  const one = memberAt(body, 'data', 'document')
  const pageState = memberAt(body, 'data', 'nextPageState')
  return {
    documents: (Array.isArray(many) ? many : [one]).filter(isObject),
    nextPageState: typeof pageState === 'string' ? pageState : undefined,
    errors,
  }
}

/** Prints the first failures on a line each. */
class FailureLines {
  readonly #meter: Meter
  #count = 0

  constructor(meter: Meter) {
    this.#meter = meter
  }

  add(id: string, message: string): void {
    if (++this.#count > shownMax + 1) return
    const line =
      this.#count > shownMax
        ? 'further failed documents are not shown'
        : `document ${id}: ${message}`
    this.#meter.clear()
    process.stderr.write(`stela: ${line}\n`)
  }
}

const shownMax = 20

/** Stops the run at the first SIGINT or SIGTERM, and the process at the second. */
function stopOnSignal(meter: Meter): { readonly signal: AbortSignal; end(): void } {
  const controller = new AbortController()
  const stop = () => {
    if (controller.signal.aborted) process.exit(1)
    meter.clear()
    process.stderr.write('stela: stopping after the requests in flight\n')
    controller.abort()
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  return {
    signal: controller.signal,
    end: () => void process.off('SIGINT', stop).off('SIGTERM', stop),
  }
}

function adviceFor(counts: EmbedCounts | undefined): string {
  return (
    `${counts?.embedded ?? 0} documents were embedded. ` +
    'Run the same command again to continue.'
  )
}

function summaryOf(counts: EmbedCounts): string {
  const { seen, embedded, already, textless, removed, failed, shortened } = counts
  const parts: readonly (readonly [number, string])[] = [
    [already, 'searchable before'],
    [textless, 'without a text'],
    [removed, 'removed meanwhile'],
    [failed, 'failed'],
    [shortened, 'searched by the start of their words only'],
  ]
  const rest = parts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count} ${what}`)
  return [`embedded ${embedded} of ${seen} documents`, ...rest].join(', ')
}
