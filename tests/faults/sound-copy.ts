import assert from 'node:assert/strict'
import { cpSync, rmSync } from 'node:fs'
import { checkDataFolder } from '../engine/check-data-folder.ts'

/** Checks a copy, because opening the folder would repair what the next start has to. */
export function assertSound(folder: string): void {
  const copy = `${folder}-copy`
  cpSync(folder, copy, { recursive: true })
  assert.deepEqual(checkDataFolder(copy), [])
  rmSync(copy, { recursive: true })
}
