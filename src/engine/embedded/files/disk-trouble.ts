/**
 * Causes that keep a store from being read or written, by what an operator has to do about them.
 *
 * SQLite's codes name the operation that failed rather than the cause: a full disk is "full" in
 * one place and an input/output error in another, and so is a process without file handles.
 * Where a code can have several causes, the disk and the process are examined.
 */
import { accessSync, closeSync, constants, openSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { JsonProblem } from '../../../json/parse.ts'
import { EngineError } from '../../errors.ts'
import {
  findWhereabouts,
  identifyIfThere,
  whereaboutsOf,
  type FileIdentity,
} from './file-identity.ts'
import { messageOf, reasonOf } from '../../../errors/reason.ts'

export interface Trouble {
  readonly kind:
    'full' | 'read-only' | 'forbidden' | 'handles' | 'gone' | 'replaced' | 'failing'
  /** What is wrong, without the names of files: clients read it, too. */
  readonly what: string
  /** The same with them, where there are any. */
  readonly details?: string
  /** What to do about it. */
  readonly remedy: string
  /** The file that is not where it was. */
  readonly lost?: FileIdentity
}

/** In a server that runs. */
export function tell({ kind, what, remedy }: Trouble): string {
  // The limit of a process that runs is hard to raise.
  if (kind === 'handles') return `${what}. ${remedy} and restart the server`
  return `${what}. ${remedy}: the server goes on by itself then`
}

/** The same for its log. */
export function tellLog(trouble: Trouble): string {
  return tell({ ...trouble, what: trouble.details ?? trouble.what })
}

/** In one that cannot start. */
export function tellAtStart({ what, details, remedy }: Trouble, dataDir: string): string {
  return `${dataDir} cannot be opened: ${details ?? what}. ${remedy}, then start again`
}

/** In a command that reads the files of a stopped server. */
export function tellObstacle({ what, details, remedy }: Trouble, file: string): string {
  return `${file} cannot be checked: ${details ?? what}. ${remedy}, then run the command again`
}

/** Whether the cause lies outside of the files, which may well be sound. */
export function obstructs({ kind }: Trouble): boolean {
  return (
    kind === 'full' || kind === 'read-only' || kind === 'forbidden' || kind === 'handles'
  )
}

/** Raised where a path no longer leads to the file that was opened. */
class LostFile extends Error {
  readonly trouble: Trouble
  readonly isCommitted: boolean

  constructor(lost: FileIdentity, whereabouts: 'gone' | 'replaced', isCommitted: boolean) {
    super(`${lost.path} is ${whereabouts}`)
    this.name = 'LostFile'
    this.trouble = troubleOfLost(lost, whereabouts)
    this.isCommitted = isCommitted
  }
}

/** The files of an open database, which must stay where they are for writes to be found. */
export class OpenedFiles {
  readonly identity: FileIdentity
  #log: FileIdentity | undefined

  constructor(identity: FileIdentity) {
    this.identity = identity
  }

  /** To be called in a transaction, or after one: before that there may be no log. */
  refuseIfLost(when?: Moment): void {
    refuseIfLost(this.identity, when)
    this.#log ??= identifyIfThere(`${this.identity.path}-wal`)
    if (this.#log !== undefined) refuseIfLost(this.#log, when)
  }
}

type Moment = 'before commit' | 'after commit'

export function refuseIfLost(identity: FileIdentity, when?: Moment): void {
  const whereabouts = whereaboutsOf(identity)
  if (whereabouts !== 'there')
    throw new LostFile(identity, whereabouts, when === 'after commit')
}

/** The same without blocking the thread. */
export async function refuseIfLostAsync(identity: FileIdentity): Promise<void> {
  const whereabouts = await findWhereabouts(identity)
  if (whereabouts !== 'there') throw new LostFile(identity, whereabouts, false)
}

export function troubleOfLost(
  lost: FileIdentity,
  whereabouts: 'gone' | 'replaced',
): Trouble {
  return { ...troubles[whereabouts], lost }
}

/** What an error says of the disk that a file is on; undefined: it has other causes. */
export function troubleOf(error: unknown, file: string): Trouble | undefined {
  if (error instanceof LostFile) return error.trouble
  if (!(error instanceof Error)) return undefined
  const { code, errcode } = error as NodeJS.ErrnoException & { errcode?: number }
  if (errcode !== undefined) return troubleOfSqlite(errcode, error, file)
  return code === undefined ? undefined : troubleOfSystem(code, error, file)
}

/** Whether somebody else holds the file, for now. */
export function isHeld(error: unknown): boolean {
  const { errcode = 0 } = (error ?? {}) as { errcode?: number }
  return (errcode & 0xff) === sqliteBusy || (errcode & 0xff) === sqliteLocked
}

/** Primary result codes of SQLite; what it adds to them stands in higher bits. */
const sqliteBusy = 5
const sqliteLocked = 6
const sqliteReadOnly = 8
const sqliteIoError = 10
const sqliteCorrupt = 11
const sqliteFull = 13
const sqliteCannotOpen = 14
const sqliteNotADatabase = 26
/** The log was written, and then the disk did not say that it has it. */
const sqliteSyncFailed = sqliteIoError | (4 << 8)

function troubleOfSqlite(errcode: number, error: Error, file: string) {
  switch (errcode & 0xff) {
    case sqliteFull:
      return troubles.full
    case sqliteReadOnly:
    case sqliteIoError:
    case sqliteCannotOpen:
      return lookAt(file) ?? failing(error)
    default:
      return undefined
  }
}

function troubleOfSystem(code: string, error: Error, file: string): Trouble | undefined {
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return troubles.full
    case 'EROFS':
      return troubles['read-only']
    case 'EMFILE':
    case 'ENFILE':
      return troubles.handles
    case 'ENOENT':
    case 'ENOTDIR':
    case 'EIO':
    case 'ESTALE':
    case 'ENODEV':
    case 'ENXIO':
      return lookAt(file) ?? failing(error)
    case 'EACCES':
    case 'EPERM':
      return lookAt(file) ?? troubles.forbidden
    default:
      return undefined
  }
}

/** Less than a store needs to write anything. */
const spaceMin = 64 * 1024

/** Handles that a store may open at once: the file, its log, shared memory, and its folder. */
const handlesMin = 4

/** What can be seen from outside; undefined when nothing seems wrong. */
function lookAt(file: string): Trouble | undefined {
  const folder = dirname(file)
  try {
    if (statSync(file, { throwIfNoEntry: false }) === undefined) return troubles.gone
    accessSync(folder, constants.R_OK | constants.W_OK)
    accessSync(file, constants.R_OK | constants.W_OK)
    const { bavail, bsize } = statfsSync(folder)
    if (bavail * bsize < spaceMin) return troubles.full
    return hasHandles(folder) ? undefined : troubles.handles
  } catch (error) {
    switch ((error as NodeJS.ErrnoException).code) {
      case 'EROFS':
        return troubles['read-only']
      case 'EACCES':
      case 'EPERM':
        return troubles.forbidden
      case 'ENOENT':
      case 'ENOTDIR':
        return troubles.gone
      default:
        return undefined
    }
  }
}

/** Whether the process can open as many handles as a store needs. */
function hasHandles(folder: string): boolean {
  const opened: number[] = []
  try {
    while (opened.length < handlesMin) opened.push(openSync(folder, 'r'))
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code !== 'EMFILE' && code !== 'ENFILE'
  } finally {
    opened.forEach(closeSync)
  }
}

const troubles = {
  full: {
    kind: 'full',
    what: 'the disk of the data folder is full',
    remedy: 'Free some space',
  },
  'read-only': {
    kind: 'read-only',
    what: 'the data folder cannot be written to',
    remedy: 'Make its disk writable',
  },
  forbidden: {
    kind: 'forbidden',
    what: 'this user has no permission to read and write the data folder',
    remedy: 'Change the owner or the permissions of its files',
  },
  handles: {
    kind: 'handles',
    what: 'this process has too many open files',
    remedy: 'Raise the limit (ulimit -n)',
  },
  gone: {
    kind: 'gone',
    what: 'the data folder, or a part of it, was removed, renamed or unmounted',
    remedy: 'Bring it back',
  },
  replaced: {
    kind: 'replaced',
    what: 'something else stands where the server opened its data',
    remedy: 'Restart the server to use it, or bring back what was there',
  },
} as const satisfies Record<string, Trouble>

/** When nothing more can be said. */
export function failing(error: unknown): Trouble {
  const what = (reason: string) => `the disk of the data folder failed (${reason})`
  return {
    kind: 'failing',
    what: what(reasonOf(error)),
    details: what(messageOf(error)),
    remedy: 'Look after the disk',
  }
}

/** Whether an error leaves open what a restart will find. */
function isInDoubt(error: unknown): boolean {
  return error instanceof LostFile
    ? error.isCommitted
    : (error as { errcode?: number }).errcode === sqliteSyncFailed
}

/** What a write that failed fails with. */
export function tellFailedWrite(error: unknown, trouble: Trouble | undefined): string {
  const problem = trouble === undefined ? reasonOf(error) : tell(trouble)
  return isInDoubt(error) ? `${problem}. ${inDoubt}` : `${problem}. ${nothingKept}`
}

const nothingKept = 'Nothing of this batch of writes was kept'
export const inDoubt =
  'It is not known whether this batch of writes was kept: look before repeating it'

/** Whether what is stored is damaged: a row, an index, or the file itself. */
export function isDamage(error: unknown): boolean {
  if (error instanceof EngineError) return error.kind === 'damaged'
  if (error instanceof JsonProblem) return true
  const { code, errcode = 0 } = Object(error) as { code?: string; errcode?: number }
  // A number that does not fit: no number that is stored is that large.
  if (code === 'ERR_OUT_OF_RANGE') return true
  return (errcode & 0xff) === sqliteCorrupt || (errcode & 0xff) === sqliteNotADatabase
}

/** Failures of the store as the contract has them; mistakes of ours stay what they are. */
export function asEngineError(
  kind: 'read' | 'write',
  error: unknown,
  file: string,
): unknown {
  if (error instanceof EngineError || !(error instanceof Error)) return error
  if (error instanceof JsonProblem)
    return new EngineError('damaged', `a stored document cannot be read: ${error.message}`)
  if (kind === 'read' && isDamage(error))
    return new EngineError('damaged', reasonOf(error), { cause: error })
  const trouble = troubleOf(error, file)
  if (trouble === undefined && !('errcode' in error)) return error
  const problem =
    kind === 'write'
      ? tellFailedWrite(error, trouble)
      : trouble === undefined
        ? reasonOf(error)
        : tell(trouble)
  return new EngineError(kind, problem, { cause: error })
}

export function isFull(error: unknown): boolean {
  return (((error as { errcode?: number }).errcode ?? 0) & 0xff) === sqliteFull
}
