/** Reads and writes settings in tests that do not use the versions of settings. */
import assert from 'node:assert/strict'
import type { Engine } from '../../src/engine/contract.ts'

export async function settingOf(engine: Engine, name: string): Promise<string | undefined> {
  return (await engine.readSetting(name))?.value
}

export async function putSetting(
  engine: Engine,
  name: string,
  value: string,
): Promise<void> {
  const before = await engine.readSetting(name)
  const version = await engine.writeSetting(name, value, before?.version)
  assert(version !== undefined, `somebody else changed the setting ${name}`)
}

/** Waits until `holds` returns true, for effects that become visible with a delay. */
export async function eventually(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}
