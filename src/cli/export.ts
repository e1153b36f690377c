/** `stela export`: writes a collection or table of a running server to a file. */
import { createWriteStream, lstatSync, rmSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { Command } from 'commander'
import { openReplacing } from '../engine/private-files.ts'
import { printJson } from '../json/print.ts'
import type { JsonObject, Value } from '../json/value.ts'
import { memberAt } from './records/api-client.ts'
import { CommandFailure, fileFailure, reportFailures } from './records/failure.ts'
import { Meter } from './records/progress-meter.ts'
import { addTargetOptions, RecordTarget, type TargetOptions } from './records/target.ts'

interface ExportOptions extends TargetOptions {
  readonly out: string
  readonly gzip?: boolean
  readonly searchFields: boolean
}

export const exportCommand = addTargetOptions(
  new Command('export')
    .description('Export a collection or table of a running server to a file.')
    .helpOption('--help', 'show this help'),
)
  .option('--out <file>', 'output file; - for standard output', '-')
  .option('--gzip', 'compress the output with gzip')
  .option('--no-search-fields', 'leave out $vector, $vectorize and $lexical')
  .addHelpText(
    'after',
    `
The output has one JSON object per line, in the format that \`stela import\` reads. Numbers keep
all digits. Every record that exists during the whole export appears exactly once; records that
are written meanwhile may be missing. The file gets its final name when the export is complete.
The exit status is 0 when the export is complete, and 1 when it failed.

Examples:
  export STELA_TOKEN=…                                 set once for all examples
  stela export --collection books --out books.jsonl
  stela export --table people --out people.jsonl.gz --gzip
  stela export --collection books | head
`,
  )
  .action((options: ExportOptions) => reportFailures(() => runExport(options)))

async function runExport(options: ExportOptions): Promise<void> {
  const target = new RecordTarget(options, { connections: 1 })
  if (target.kind === 'table' && !options.searchFields)
    throw new CommandFailure(
      '--no-search-fields applies only to collections. Leave it out for a table.',
    )
  await target.open()
  const noun = target.kind === 'table' ? 'rows' : 'documents'
  let count = 0
  const meter = new Meter(noun, () => ({ count }))
  async function* lines(): AsyncGenerator<string> {
    for await (const documents of pages(target, options.searchFields)) {
      yield documents.map((document) => `${printJson(document)}\n`).join('')
      count += documents.length
    }
  }
  try {
    const write = async (output: Writable, end: boolean) => {
      const text = Readable.from(lines())
      if (options.gzip === true) await pipeline(text, createGzip(), output, { end })
      else await pipeline(text, output, { end })
    }
    if (options.out === '-') await write(process.stdout, false)
    else if (isSpecial(options.out)) await write(createWriteStream(options.out), true)
    else await writeWhole(options.out, (file) => write(file, true))
  } catch (error) {
    meter.finish(0)
    // The reader of standard output closed the pipe, for example `head`. This is not an error.
    if (options.out === '-' && (error as NodeJS.ErrnoException).code === 'EPIPE') return
    throw fileFailure(error)
  } finally {
    target.close()
  }
  process.stderr.write(`stela: exported ${count} ${noun}, ${meter.finish(count)}\n`)
}

/**
 * Whether the path is a device, a pipe or a link. The export writes to such a path instead of
 * replacing it by a new file.
 */
function isSpecial(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found !== undefined && !found.isFile() && !found.isDirectory()
}

/** Writes the file under a temporary name, and renames it when it is complete. */
async function writeWhole(
  path: string,
  write: (file: Writable) => Promise<void>,
): Promise<void> {
  const partial = `${path}.partial`
  const leave = () => {
    rmSync(partial, { force: true })
    process.exit(1)
  }
  process.on('SIGINT', leave).on('SIGTERM', leave)
  try {
    // `flush` syncs the file before the rename. Otherwise a power loss could leave an empty file
    // under the final name.
    await write(createWriteStream(partial, { fd: openReplacing(partial), flush: true }))
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  } finally {
    process.off('SIGINT', leave).off('SIGTERM', leave)
  }
}

async function* pages(
  target: RecordTarget,
  searchFields: boolean,
): AsyncGenerator<Value[]> {
  let state: Value | undefined
  do {
    const answer = await target.send(printJson(findCommand(searchFields, state)))
    const error = answer.errors[0]
    if (error !== undefined) throw new CommandFailure(`${error.code}: ${error.message}`)
    const documents = memberAt(answer.body, 'data', 'documents')
    if (!Array.isArray(documents))
      throw new CommandFailure(
        'the reply to find has no list of documents. Check that --url is a Stela server.',
      )
    yield documents
    state = memberAt(answer.body, 'data', 'nextPageState') ?? undefined
  } while (state !== undefined)
}

function findCommand(searchFields: boolean, pageState: Value | undefined): JsonObject {
  const find = new Map<string, Value>()
  if (searchFields) find.set('projection', new Map([['*', 1]]))
  if (pageState !== undefined) find.set('options', new Map([['pageState', pageState]]))
  return new Map([['find', find]])
}
