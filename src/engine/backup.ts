/**
 * What a backup consists of: files that are named by keys, and a manifest that says which of
 * them belong together. A key stands for one content, so a holder of a file by its key need
 * not get it again.
 */

/** Raised with every change to manifests or files that older code could not restore. */
export const backupFormat = 1

export interface BackupManifest {
  readonly format: number
  /** The version of the server that made it. */
  readonly server: string
  /** The moment that everything is of. */
  readonly created: string
  readonly catalog: BackupFile
  readonly stores: readonly StoreBackup[]
}

export interface BackupFile {
  readonly key: string
  readonly size: number
  readonly sha256: string
}

export interface StoreBackup extends BackupFile {
  readonly keyspace: string
  readonly name: string
  readonly uid: string
}

/** What an engine tells of a backup: the file is known wherever it was sent. */
export interface BackupContents {
  readonly created: string
  readonly catalog: MadeFile
  readonly stores: readonly (Omit<StoreBackup, keyof BackupFile> & MadeFile)[]
}

export type MadeFile = Pick<BackupFile, 'key'> & Partial<BackupFile>

export type BackupPart =
  /** First: how many files follow, and roughly their bytes. */
  | { readonly kind: 'begin'; readonly files: number; readonly size: number }
  | {
      readonly kind: 'file'
      readonly key: string
      readonly size: number
      /** To be read before the next part is asked for. */
      readonly content: AsyncIterable<Uint8Array>
    }
  /** Last. */
  | { readonly kind: 'end'; readonly contents: BackupContents }

/** Keys are names of files, too. */
export function isBackupKey(text: string): boolean {
  return /^[a-z0-9][a-z0-9-]{7,119}$/.test(text)
}
