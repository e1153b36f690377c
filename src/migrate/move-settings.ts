/** Copies the settings of the service: databases, roles, tokens and users. */
import { isDeepStrictEqual } from 'node:util'
import type { Engine } from '../engine/contract.ts'
import { settingNames } from '../engine/shared-setting.ts'

/**
 * Names of settings that exist at the destination with another value. A server that was started on
 * the destination writes such settings.
 */
export async function otherSettings(from: Engine, to: Engine): Promise<readonly string[]> {
  const found: string[] = []
  for (const name of settingNames) {
    const [ours, theirs] = [await from.readSetting(name), await to.readSetting(name)]
    if (theirs !== undefined && !areSame(ours?.value, theirs.value)) found.push(name)
  }
  return found
}

/** Copies settings that the destination lacks; returns the names of the copied settings. */
export async function moveSettings(from: Engine, to: Engine): Promise<readonly string[]> {
  const moved: string[] = []
  for (const name of settingNames) {
    const setting = await from.readSetting(name)
    if (setting === undefined || (await to.readSetting(name)) !== undefined) continue
    if ((await to.writeSetting(name, setting.value, undefined)) !== undefined)
      moved.push(name)
  }
  return moved
}

function areSame(a: string | undefined, b: string): boolean {
  return a !== undefined && isDeepStrictEqual(JSON.parse(a), JSON.parse(b))
}
