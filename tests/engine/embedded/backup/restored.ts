/** Backups taken by tests, and data folders that are restored from them. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { BackupContents, BackupFile } from '../../../../src/engine/backup.ts'
import { checked } from '../../contract/checked.ts'
import { openEmbeddedEngine } from '../../../../src/engine/embedded/engine.ts'
import { restoreDataFolder } from '../../../../src/engine/embedded/backup/restore.ts'
import type { Engine } from '../../../../src/engine/contract.ts'
import { noSignal } from '../../store.ts'

/** All backups of a test. Files stay available for later incremental backups. */
export class TakenBackups {
  readonly folder = mkdtempSync(join(tmpdir(), 'stela-backups-'))
  readonly files = new Map<string, BackupFile>()
  #count = 0

  constructor(context: TestContext) {
    context.after(() => rmSync(this.folder, { recursive: true, force: true }))
    mkdirSync(join(this.folder, 'files'))
  }

  pathOf(key: string): string {
    return join(this.folder, 'files', key)
  }

  async take(engine: Engine): Promise<Taken> {
    const sent: string[] = []
    for await (const part of engine.operations!.backup(
      new Set(this.files.keys()),
      noSignal,
    ))
      switch (part.kind) {
        case 'begin':
          assert.equal(sent.length, 0)
          break
        case 'file': {
          const chunks: Uint8Array[] = []
          for await (const chunk of part.content) chunks.push(chunk)
          const content = Buffer.concat(chunks)
          assert.equal(content.length, part.size)
          writeFileSync(this.pathOf(part.key), content)
          sent.push(part.key)
          break
        }
        case 'end':
          for (const { key, size, sha256 } of [
            part.contents.catalog,
            ...part.contents.stores,
          ])
            if (sent.includes(key))
              this.files.set(key, { key, size: size!, sha256: sha256! })
          return { contents: part.contents, sent }
      }
    throw new Error('a backup must end with its contents')
  }

  /** Restores a data folder and returns its path. */
  async restore({ contents: { catalog, stores } }: Taken): Promise<string> {
    const dataDir = join(this.folder, `restored-${++this.#count}`)
    mkdirSync(dataDir)
    const fileOf = (key: string) => ({ ...this.files.get(key)!, path: this.pathOf(key) })
    await restoreDataFolder(
      {
        catalog: fileOf(catalog.key),
        stores: new Map(stores.map(({ uid, key }) => [uid, fileOf(key)])),
      },
      dataDir,
      () => undefined,
      () => undefined,
    )
    return dataDir
  }
}

export interface Taken {
  readonly contents: BackupContents
  /**
   * The keys of the files that the engine sent. Unchanged files of earlier backups are not among
   * them.
   */
  readonly sent: readonly string[]
}

/** Runs `look` with an engine on the folder, and then closes the engine. */
export async function withEngine<T>(
  dataDir: string,
  look: (engine: Engine) => Promise<T>,
): Promise<T> {
  const log = (): void => undefined
  const engine = checked(await openEmbeddedEngine({ dataDir, durable: false, log }))
  try {
    return await look(engine)
  } finally {
    await engine.close()
  }
}
