import assert from 'node:assert/strict'
import { cpSync, rmSync } from 'node:fs'
import { checkDataFolder } from '../engine/embedded/backup/check-data-folder.ts'

/**
 * Asserts that a data folder has no damage. Checks a copy, because opening the folder itself would
 * make the repairs that the next start must make.
 */
export function assertSound(folder: string): void {
  const copy = `${folder}-copy`
  cpSync(folder, copy, { recursive: true })
  assert.deepEqual(checkDataFolder(copy), [])
  rmSync(copy, { recursive: true })
}
