/** `stela backup`: copies all data of a running server into a folder. */
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rename } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { Command, Option } from 'commander'
import type { BackupContents, BackupFile, BackupManifest } from '../engine/backup.ts'
import { openReplacing } from '../engine/private-files.ts'
import { adminTokenOption, adminUrlOption } from './admin-options.ts'
import { BackupFolder, filesIn, isManifest } from './backup/backup-folder.ts'
import { readBackup, type Received } from './backup/backup-reader.ts'
import { FolderLock } from './backup/folder-lock.ts'
import { requestBackup } from './backup/request-backup.ts'
import { sizeText, targetsText } from './backup/size-text.ts'
import { CommandFailure, fileFailure, reportFailures } from './records/failure.ts'
import { Meter } from './records/progress-meter.ts'
import { wholeNumber } from '../settings/setting-values.ts'

interface BackupOptions {
  readonly adminUrl: string
  readonly token?: string
  readonly keep?: number
  readonly verify?: boolean
}

export const backupCommand = new Command('backup')
  .description('Back up a running server to a folder.')
  .helpOption('--help', 'show this help')
  .argument('<folder>', 'backup folder; created when absent')
  .addOption(adminUrlOption())
  .addOption(adminTokenOption('administrator token'))
  .addOption(
    new Option('--keep <number>', 'keep this many backups; delete older ones').argParser(
      wholeNumber(1, 1_000_000),
    ),
  )
  .option('--verify', 'verify files of earlier backups and copy damaged ones again')
  .addHelpText(
    'after',
    `
A backup is a consistent snapshot of all collections, tables, types, tokens and settings. Reads
and writes continue meanwhile. Backups in one folder are incremental: unchanged collections and
tables are not copied again. Use one backup folder per server. The exit status is 0 when the
backup is complete, and 1 when it failed.

Examples:
  export STELA_TOKEN=…                              set once for all examples
  stela backup /mnt/backups/stela                   back up
  stela backup /mnt/backups/stela --keep 7          back up and keep the latest seven
  stela restore /mnt/backups/stela --list           list backups
`,
  )
  .action((folder: string, options: BackupOptions) =>
    reportFailures(() => runBackup(folder, options)),
  )

async function runBackup(path: string, options: BackupOptions): Promise<void> {
  try {
    const folder = new BackupFolder(path)
    folder.make((line) => process.stderr.write(`stela: ${line}.\n`))
    const lock = new FolderLock(path)
    const leave = () => {
      lock.release()
      process.exit(1)
    }
    process.on('SIGINT', leave).on('SIGTERM', leave)
    try {
      await makeBackup(folder, lock, options)
    } finally {
      process.off('SIGINT', leave).off('SIGTERM', leave)
      lock.release()
    }
  } catch (error) {
    throw fileFailure(error)
  }
}

async function makeBackup(
  folder: BackupFolder,
  lock: FolderLock,
  options: BackupOptions,
): Promise<void> {
  await folder.removeLeftovers()
  const { backups, unreadable } = await folder.list()
  for (const problem of unreadable) process.stderr.write(`stela: ${problem}\n`)
  const had = await folder.filesOf(backups)
  if (options.verify === true)
    for (const { key } of await folder.findDamaged(had.values())) {
      had.delete(key)
      process.stderr.write(
        `stela: ${folder.fileOf(key)} is damaged. This backup copies it again.\n`,
      )
    }
  const left = new AbortController()
  const startedAt = performance.now()
  try {
    const { adminUrl, token } = options
    const have = [...had.keys()]
    const response = await requestBackup({ adminUrl, token, have, signal: left.signal })
    const { manifest, received } = await receive(readBackup(response), folder, had)
    lock.confirm()
    const name = await folder.add(manifest)
    print(summary(name, manifest, received, performance.now() - startedAt))
    await prune(folder, name, options.keep)
  } catch (error) {
    // Removes the files of the failed backup at once, because a full disk may have caused the
    // failure.
    await folder.removeLeftovers().catch(() => undefined)
    throw error
  } finally {
    left.abort()
  }
}

async function receive(
  parts: AsyncIterable<Received>,
  folder: BackupFolder,
  had: ReadonlyMap<string, BackupFile>,
) {
  const received = new Map<string, BackupFile>()
  let size = 0
  let sizeExpected = 0
  const meter = new Meter('MB', () => ({
    count: Math.round(size / 1e6),
    part: sizeExpected === 0 ? undefined : Math.min(1, size / sizeExpected),
  }))
  try {
    for await (const part of parts)
      switch (part.kind) {
        case 'begin':
          sizeExpected = part.size
          break
        case 'file': {
          // Earlier backups may need the existing file of this key; overwriting it would damage
          // them.
          if (had.has(part.key) || received.has(part.key))
            throw new CommandFailure(
              `the server sent ${part.key}, a file that this folder already has. Try again.`,
            )
          const count = (bytes: number) => void (size += bytes)
          received.set(part.key, await keep(part, folder.fileOf(part.key), count))
          break
        }
        case 'manifest':
          return { manifest: complete(part.manifest, received, had), received }
      }
    throw new CommandFailure(
      'the server did not send the manifest of the backup. Try again.',
    )
  } finally {
    meter.finish(0)
  }
}

/** Writes the file under a temporary name, and renames it when it is complete. */
async function keep(
  { key, size, content }: Extract<Received, { readonly kind: 'file' }>,
  path: string,
  onBytes: (count: number) => void,
): Promise<BackupFile> {
  const hash = createHash('sha256')
  const partial = `${path}.partial`
  try {
    await pipeline(
      content,
      async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          hash.update(chunk)
          onBytes(chunk.length)
          yield chunk
        }
      },
      createWriteStream(partial, { fd: openReplacing(partial), flush: true }),
    )
    await rename(partial, path)
  } catch (error) {
    // A failed write is the only error whose system message does not name the file.
    if ((error as NodeJS.ErrnoException).syscall !== 'write') throw error
    throw new CommandFailure(`${partial} cannot be written: ${(error as Error).message}`)
  }
  return { key, size, sha256: hash.digest('hex') }
}

/**
 * Adds the size and checksum of each file in the folder to the manifest that the server sent.
 * Throws when a file is missing or was damaged during transfer.
 */
function complete(
  contents: unknown,
  received: ReadonlyMap<string, BackupFile>,
  had: ReadonlyMap<string, BackupFile>,
): BackupManifest {
  const { catalog, stores } = contents as Partial<BackupContents>
  if (catalog === undefined || !Array.isArray(stores)) throw notUnderstood()
  const known = <T extends { readonly key: string; readonly sha256?: string }>(file: T) => {
    const here = received.get(file.key) ?? had.get(file.key)
    if (here === undefined) throw new CommandFailure(`the server did not send ${file.key}.`)
    if (received.has(file.key) && file.sha256 !== here.sha256)
      throw new CommandFailure(
        `${file.key} was changed during transfer: its checksum differs. Try again.`,
      )
    return { ...file, ...here }
  }
  const manifest = {
    ...(contents as object),
    catalog: known(catalog),
    stores: (stores as BackupContents['stores']).map(known),
  }
  if (!isManifest(manifest)) throw notUnderstood()
  return manifest
}

function notUnderstood(): CommandFailure {
  return new CommandFailure(
    'the manifest that the server sent is invalid. Use the same version of Stela as ' +
      'the server.',
  )
}

function summary(
  name: string,
  manifest: BackupManifest,
  received: ReadonlyMap<string, BackupFile>,
  tookMs: number,
): string {
  const sent = [...received.values()].reduce((sum, { size }) => sum + size, 0)
  const all = filesIn(manifest).reduce((sum, { size }) => sum + size, 0)
  const copied = manifest.stores.filter(({ key }) => received.has(key)).length
  const unchanged = manifest.stores.length - copied
  return (
    `Backup ${name} is complete: ${targetsText(manifest.stores.length)}, ` +
    `${sizeText(all)}.\nCopied ${copied} (${sizeText(sent)}), ${unchanged} unchanged, ` +
    `in ${(tookMs / 1000).toFixed(1)} s.`
  )
}

/**
 * Removes the oldest backups if there are more than `keepMax`. Never removes `made`, the new
 * backup, even if a wrong clock gave it the oldest date.
 */
async function prune(
  folder: BackupFolder,
  made: string,
  keepMax: number | undefined,
): Promise<void> {
  if (keepMax === undefined) return
  const { backups } = await folder.list()
  const others = backups.filter(({ name }) => name !== made)
  const old = others.slice(0, Math.max(0, backups.length - keepMax))
  if (old.length === 0) return
  await folder.remove(old)
  await folder.removeLeftovers()
  print(`Removed ${old.map(({ name }) => name).join(', ')}.`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
