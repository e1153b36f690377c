/**
 * The format of a backup: files that are named by keys, and a manifest that lists the files of one
 * backup. A key identifies the content of a file, so a file is not sent to a destination that
 * already has a file with its key.
 */

/**
 * Version of the format. Increase it when older servers could not restore the manifest or a file.
 */
export const backupFormat = 1

export interface BackupManifest {
  readonly format: number
  /** Version of the server that made the backup. */
  readonly server: string
  /** Time of the snapshot: all files have the content of this time. */
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

/**
 * Contents of a backup. A file that the destination already has is listed without size and
 * checksum.
 */
export interface BackupContents {
  readonly created: string
  readonly catalog: MadeFile
  readonly stores: readonly (Omit<StoreBackup, keyof BackupFile> & MadeFile)[]
}

export type MadeFile = Pick<BackupFile, 'key'> & Partial<BackupFile>

export type BackupPart =
  /** Precedes the files. Contains their number and their approximate total size in bytes. */
  | { readonly kind: 'begin'; readonly files: number; readonly size: number }
  | {
      readonly kind: 'file'
      readonly key: string
      readonly size: number
      /** The caller must read this stream to its end before it requests the next part. */
      readonly content: AsyncIterable<Uint8Array>
    }
  /** The last part. */
  | { readonly kind: 'end'; readonly contents: BackupContents }

/** Whether the text is a valid key. Keys are also file names, hence the restricted characters. */
export function isBackupKey(text: string): boolean {
  return /^[a-z0-9][a-z0-9-]{7,119}$/.test(text)
}
