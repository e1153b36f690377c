/**
 * Identity of the file at a path. A file that is open survives the removal, renaming or unmounting
 * of its folder and takes writes that are lost afterwards, so the writer checks that the path still
 * leads to the file that it opened.
 */
import { statSync } from 'node:fs'
import { stat } from 'node:fs/promises'

export interface FileIdentity {
  readonly path: string
  readonly device: bigint
  readonly number: bigint
}

/** What is at the path of an opened file. `replaced`: another file. */
export type FileState = 'there' | 'gone' | 'replaced'

/** Identity of the file at a path. Throws when there is no file. */
export function identify(path: string): FileIdentity {
  const { dev, ino } = statSync(path, { bigint: true })
  return { path, device: dev, number: ino }
}

export function identifyIfThere(path: string): FileIdentity | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && { path, device: found.dev, number: found.ino }
}

/** Compares the file at the path with an identity. Takes one or two microseconds. */
export function checkIdentity({ path, device, number }: FileIdentity): FileState {
  let found
  try {
    found = statSync(path, { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    return isAbsence(error)
  }
  if (found === undefined) return 'gone'
  return found.dev === device && found.ino === number ? 'there' : 'replaced'
}

/** Asynchronous version of `checkIdentity`, for a thread that must not wait for a slow disk. */
export async function checkIdentityAsync(identity: FileIdentity): Promise<FileState> {
  try {
    const { dev, ino } = await stat(identity.path, { bigint: true })
    return dev === identity.device && ino === identity.number ? 'there' : 'replaced'
  } catch (error) {
    return isAbsence(error)
  }
}

function isAbsence(error: unknown): 'gone' {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'gone'
  throw error
}
