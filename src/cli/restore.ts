/** `stela restore`: creates a data folder from a backup. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Command, Option } from 'commander'
import { dataOption } from '../settings/serve-options.ts'
import { EngineError } from '../engine/errors.ts'
import { makePrivateFolder } from '../engine/private-files.ts'
import { BackupFolder, filesIn, type NamedBackup } from './backup/backup-folder.ts'
import { sizeText, targetsText } from './backup/size-text.ts'
import { CommandFailure, fileFailure, reportFailures } from './records/failure.ts'
import { Meter } from './records/progress-meter.ts'

interface RestoreOptions {
  readonly data: string
  readonly backup: string
  readonly list?: boolean
}

export const restore = new Command('restore')
  .description('Restore a backup into a new data folder.')
  .helpOption('--help', 'show this help')
  .argument('<folder>', 'backup folder')
  .addOption(dataOption('data folder to create; it must be absent or empty'))
  .addOption(
    new Option('--backup <name>', 'name of the backup, as --list prints it').default(
      'latest',
    ),
  )
  .option('--list', 'list the backups and exit')
  .addHelpText(
    'after',
    `
Verifies the checksum of every file. A restore that is interrupted leaves a folder that no server
opens. The exit status is 0 when the data folder is complete, and 1 when the restore failed.

Examples:
  stela restore /mnt/backups/stela --list
  stela restore /mnt/backups/stela --data /var/lib/stela
  stela restore /mnt/backups/stela --backup 2026-03-01T02-00-00.000Z --data old
`,
  )
  .action((path: string, options: RestoreOptions) =>
    reportFailures(async () => {
      try {
        const folder = new BackupFolder(path)
        if (options.list === true) await list(folder)
        else await runRestore(folder, options)
      } catch (error) {
        if (error instanceof EngineError) throw new CommandFailure(error.message)
        throw fileFailure(error)
      }
    }),
  )

async function list(folder: BackupFolder): Promise<void> {
  const { backups, unreadable } = await folder.list()
  for (const backup of backups) {
    const files = filesIn(backup.manifest)
    const size = files.reduce((sum, file) => sum + file.size, 0)
    const lacking = await lackingIn(folder, backup)
    print(
      `${backup.name}  ${targetsText(backup.manifest.stores.length)}, ${sizeText(size)}, ` +
        `by Stela ${backup.manifest.server}` +
        (lacking.length === 0 ? '' : `; NOT COMPLETE: ${lacking.length} files are missing`),
    )
  }
  if (backups.length === 0) print(`${folder.path} holds no backups.`)
  for (const problem of unreadable) process.stderr.write(`stela: ${problem}\n`)
  if (unreadable.length > 0) process.exitCode = 1
}

async function runRestore(folder: BackupFolder, options: RestoreOptions): Promise<void> {
  const backup = await folder.find(options.backup)
  const [lacking] = await lackingIn(folder, backup)
  if (lacking !== undefined)
    throw new CommandFailure(
      `backup ${backup.name} is not complete: ${lacking} is missing or truncated. ` +
        'Restore another backup; list them with --list.',
    )
  const { data } = options
  const isNew = makeEmpty(data)
  const leave = () => {
    clear(data, isNew)
    process.exit(1)
  }
  process.on('SIGINT', leave).on('SIGTERM', leave)
  try {
    await copy(folder, backup, data)
  } catch (error) {
    clear(data, isNew)
    throw error
  } finally {
    process.off('SIGINT', leave).off('SIGTERM', leave)
  }
  print(
    `Restored backup ${backup.name} into ${data}: ` +
      `${targetsText(backup.manifest.stores.length)}, and all tokens and settings.\n` +
      `Start a server on it with: stela serve --data ${data}`,
  )
}

async function copy(
  folder: BackupFolder,
  { manifest }: NamedBackup,
  data: string,
): Promise<void> {
  const { restoreDataFolder } = await import('../server.ts')
  const size = filesIn(manifest).reduce((sum, file) => sum + file.size, 0)
  const { catalog, stores } = manifest
  let copied = 0
  const meter = new Meter('MB', () => ({
    count: Math.round(copied / 1e6),
    part: copied / size,
  }))
  try {
    await restoreDataFolder(
      {
        catalog: { ...catalog, path: folder.fileOf(catalog.key) },
        stores: new Map(
          stores.map((store) => [store.uid, { ...store, path: folder.fileOf(store.key) }]),
        ),
      },
      data,
      (bytes) => void (copied += bytes),
      (line) => process.stderr.write(`stela: ${line}.\n`),
    )
  } finally {
    meter.finish(0)
  }
}

/** The files of a backup that are missing or have the wrong size. */
async function lackingIn(folder: BackupFolder, backup: NamedBackup): Promise<string[]> {
  const found = await folder.filesOf([backup])
  return filesIn(backup.manifest)
    .filter(({ key }) => !found.has(key))
    .map(({ key }) => folder.fileOf(key))
}

/** Creates the folder, or checks that it is empty. Returns whether it created the folder. */
function makeEmpty(data: string): boolean {
  let names: string[]
  try {
    names = readdirSync(data)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOTDIR')
      throw new CommandFailure(`${data} is not a folder. Choose another --data.`)
    if (code !== 'ENOENT') throw error
    makePrivateFolder(data)
    return true
  }
  if (names.length > 0)
    throw new CommandFailure(
      `${data} is not empty. A restore never overwrites files. Choose another ` +
        '--data, or move the files away: they are earlier data or the remains of an ' +
        'interrupted restore.',
    )
  return false
}

function clear(data: string, isNew: boolean): void {
  if (isNew) rmSync(data, { recursive: true, force: true })
  else
    for (const name of readdirSync(data))
      rmSync(join(data, name), { recursive: true, force: true })
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
