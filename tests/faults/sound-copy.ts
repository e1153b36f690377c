import assert from 'node:assert/strict'
import { cpSync, rmSync } from 'node:fs'
import { checkDataFolder } from '../engine/embedded/backup/check-data-folder.ts'

/**
 * Asserts that a data folder has no damage. Checks a copy, because checking the folder itself would
 * already repair what the next start must repair.
 */
export function assertSound(folder: string): void {
  const copy = `${folder}-copy`
  cpSync(folder, copy, { recursive: true })
  assert.deepEqual(checkDataFolder(copy), [])
  rmSync(copy, { recursive: true })
}
