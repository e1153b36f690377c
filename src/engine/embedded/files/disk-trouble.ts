/**
 * Classifies failures of reading and writing a store by what an operator has to do about them.
 *
 * SQLite's codes name the operation that failed rather than the cause. A full disk is "full" in one
 * place and an input/output error in another, and a lack of file handles has several codes, too.
 * When a code can have several causes, the disk and the process are examined.
 */
import { accessSync, closeSync, constants, openSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { JsonProblem } from '../../../json/parse.ts'
import { EngineError } from '../../errors.ts'
import {
  checkIdentityAsync,
  identifyIfThere,
  checkIdentity,
  type FileIdentity,
} from './file-identity.ts'
import { messageOf, reasonOf } from '../../../errors/reason.ts'

export interface DiskProblem {
  readonly kind:
    'full' | 'read-only' | 'forbidden' | 'handles' | 'gone' | 'replaced' | 'failing'
  /** The problem without file names, since clients read it, too. */
  readonly what: string
  /** The problem with file names, if there are any. */
  readonly details?: string
  /** Advice for the operator. */
  readonly remedy: string
  /** The file that is gone or was replaced. */
  readonly lost?: FileIdentity
}

/** Message of a running server for clients. */
export function clientMessage({ kind, what, remedy }: DiskProblem): string {
  // The limit of file handles of a running process is hard to raise.
  if (kind === 'handles') return `${what}. ${remedy} and restart the server`
  return `${what}. ${remedy}; the server then continues without a restart`
}

/** Message of a running server for the log. */
export function logMessage(trouble: DiskProblem): string {
  return clientMessage({ ...trouble, what: trouble.details ?? trouble.what })
}

/** Message of a server that cannot start. */
export function startupMessage(
  { what, details, remedy }: DiskProblem,
  dataDir: string,
): string {
  return `${dataDir} cannot be opened: ${details ?? what}. ${remedy}, then start again`
}

/** Message of a command that reads the files of a stopped server. */
export function checkMessage({ what, details, remedy }: DiskProblem, file: string): string {
  return `${file} cannot be checked: ${details ?? what}. ${remedy}, then run the command again`
}

/** Whether the cause is outside the files, which may be intact. */
export function preventsCheck({ kind }: DiskProblem): boolean {
  return (
    kind === 'full' || kind === 'read-only' || kind === 'forbidden' || kind === 'handles'
  )
}

/** Thrown when a path no longer leads to the file that was opened. */
class LostFile extends Error {
  readonly trouble: DiskProblem
  readonly isCommitted: boolean

  constructor(lost: FileIdentity, whereabouts: 'gone' | 'replaced', isCommitted: boolean) {
    super(`${lost.path} is ${whereabouts}`)
    this.name = 'LostFile'
    this.trouble = problemOfLost(lost, whereabouts)
    this.isCommitted = isCommitted
  }
}

/** The files of an open database. Writes are lost when a file is no longer at its path. */
export class OpenedFiles {
  readonly identity: FileIdentity
  #log: FileIdentity | undefined

  constructor(identity: FileIdentity) {
    this.identity = identity
  }

  /**
   * Throws when a file of the database is no longer at its path. Must be called in a transaction or
   * after one: before the first transaction, there may be no log.
   */
  refuseIfLost(when?: Moment): void {
    refuseIfLost(this.identity, when)
    this.#log ??= identifyIfThere(`${this.identity.path}-wal`)
    if (this.#log !== undefined) refuseIfLost(this.#log, when)
  }
}

type Moment = 'before commit' | 'after commit'

export function refuseIfLost(identity: FileIdentity, when?: Moment): void {
  const whereabouts = checkIdentity(identity)
  if (whereabouts !== 'there')
    throw new LostFile(identity, whereabouts, when === 'after commit')
}

export async function refuseIfLostAsync(identity: FileIdentity): Promise<void> {
  const whereabouts = await checkIdentityAsync(identity)
  if (whereabouts !== 'there') throw new LostFile(identity, whereabouts, false)
}

export function problemOfLost(
  lost: FileIdentity,
  whereabouts: 'gone' | 'replaced',
): DiskProblem {
  return { ...troubles[whereabouts], lost }
}

/** The disk problem that an error reports; undefined when the error has other causes. */
export function problemOf(error: unknown, file: string): DiskProblem | undefined {
  if (error instanceof LostFile) return error.trouble
  if (!(error instanceof Error)) return undefined
  const { code, errcode } = error as NodeJS.ErrnoException & { errcode?: number }
  if (errcode !== undefined) return troubleOfSqlite(errcode, error, file)
  return code === undefined ? undefined : troubleOfSystem(code, error, file)
}

/** Whether the file is locked by another connection, which is temporary. */
export function isHeld(error: unknown): boolean {
  const { errcode = 0 } = (error ?? {}) as { errcode?: number }
  return (errcode & 0xff) === sqliteBusy || (errcode & 0xff) === sqliteLocked
}

/** Primary result codes of SQLite; extended codes use the higher bits. */
const sqliteBusy = 5
const sqliteLocked = 6
const sqliteReadOnly = 8
const sqliteIoError = 10
const sqliteCorrupt = 11
const sqliteFull = 13
const sqliteCannotOpen = 14
const sqliteNotADatabase = 26
/** Code of the error for a log that was written, but could not be synced. */
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

function troubleOfSystem(
  code: string,
  error: Error,
  file: string,
): DiskProblem | undefined {
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

/** Free space in bytes below which a store cannot write anything. */
const spaceMin = 64 * 1024

/**
 * Maximum number of file handles that a store opens at once: the database, its log, shared memory,
 * and the folder.
 */
const handlesMin = 4

/** Examines a file, its folder and the disk; undefined when they show no problem. */
function lookAt(file: string): DiskProblem | undefined {
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
    what: 'the data folder is read-only',
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
    remedy: 'Put it back or mount it again',
  },
  replaced: {
    kind: 'replaced',
    what: 'the data folder, or a part of it, was replaced while the server runs',
    remedy: 'Restart the server to use the new files, or put the old ones back',
  },
} as const satisfies Record<string, DiskProblem>

/** The problem of a failure without a known cause. */
export function failing(error: unknown): DiskProblem {
  const what = (reason: string) => `the disk of the data folder failed (${reason})`
  return {
    kind: 'failing',
    what: what(reasonOf(error)),
    details: what(messageOf(error)),
    remedy: 'Check the disk',
  }
}

/** Whether the outcome of a write is unknown until the next start. */
function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof LostFile
    ? error.isCommitted
    : (error as { errcode?: number }).errcode === sqliteSyncFailed
}

export function failedWriteMessage(
  error: unknown,
  trouble: DiskProblem | undefined,
): string {
  const problem = trouble === undefined ? reasonOf(error) : clientMessage(trouble)
  return isOutcomeUnknown(error)
    ? `${problem}. ${unknownOutcome}`
    : `${problem}. ${nothingKept}`
}

const nothingKept = 'Nothing of this batch of writes was stored'
export const unknownOutcome =
  'It is not known whether this batch of writes was stored: check the data before you repeat it'

/** Whether an error means damage of a row, an index or the file itself. */
export function isDamage(error: unknown): boolean {
  if (error instanceof EngineError) return error.kind === 'damaged'
  if (error instanceof JsonProblem) return true
  const { code, errcode = 0 } = Object(error) as { code?: string; errcode?: number }
  // The error reports an integer beyond the safe range, which Stela does not store.
  if (code === 'ERR_OUT_OF_RANGE') return true
  return (errcode & 0xff) === sqliteCorrupt || (errcode & 0xff) === sqliteNotADatabase
}

/**
 * Converts failures of the store to errors of the contract. Programming errors are returned
 * unchanged.
 */
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
  const trouble = problemOf(error, file)
  if (trouble === undefined && !('errcode' in error)) return error
  const problem =
    kind === 'write'
      ? failedWriteMessage(error, trouble)
      : trouble === undefined
        ? reasonOf(error)
        : clientMessage(trouble)
  return new EngineError(kind, problem, { cause: error })
}

export function isFull(error: unknown): boolean {
  return (((error as { errcode?: number }).errcode ?? 0) & 0xff) === sqliteFull
}
