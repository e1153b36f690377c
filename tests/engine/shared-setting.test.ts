/** A setting that several servers share: no change may be lost, and every server must notice it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Engine } from '../../src/engine/contract.ts'
import { EngineError } from '../../src/engine/errors.ts'
import { SharedSetting } from '../../src/engine/shared-setting.ts'
import { openEmbedded } from './embedded/embedded-store.ts'
import { eventually, putSetting, settingOf } from './settings.ts'

type Names = readonly string[]

function open(engine: Engine) {
  return SharedSetting.open<Names>(engine, 'roles', [])
}

function add(setting: SharedSetting<Names>, name: string): Promise<number> {
  return setting.change((names) => ({
    value: [...names, name],
    result: names.length,
  }))
}

describe('a shared setting', () => {
  test('has its initial value until the first write', async (context) => {
    const { engine } = await openEmbedded(context)
    const setting = await open(engine)
    assert.deepEqual(setting.value, [])
    assert.equal(await settingOf(engine, 'roles'), undefined)
    assert.equal(await add(setting, 'ann'), 0)
    assert.deepEqual(setting.value, ['ann'])
    assert.equal(await settingOf(engine, 'roles'), '["ann"]')
    assert.deepEqual((await open(engine)).value, ['ann'])
  })

  test('keeps all concurrent changes', async (context) => {
    const { engine } = await openEmbedded(context)
    let lost = 0
    const counting: Engine = {
      ...engine,
      async writeSetting(...given) {
        const version = await engine.writeSetting(...given)
        if (version === undefined) lost++
        return version
      },
    }
    const settings = [await open(counting), await open(counting), await open(counting)]
    const names = Array.from({ length: 30 }, (_, i) => `name ${i}`)
    const positions = await Promise.all(names.map((name, i) => add(settings[i % 3]!, name)))
    assert(lost > 0, 'they were to get in the way of each other')
    assert.deepEqual(
      positions.toSorted((a, b) => a - b),
      names.map((_, i) => i),
    )
    for (const setting of settings)
      await eventually(() => setting.value.length === names.length)
    assert.deepEqual(settings[0]!.value.toSorted(), names.toSorted())
  })

  test('reports changes of its value by any writer, and nothing else', async (context) => {
    const { engine } = await openEmbedded(context)
    let changes = 0
    const setting = await open(engine)
    setting.whenChanged(() => changes++)
    const other = await open(engine)
    await add(other, 'ann')
    await eventually(() => changes === 1)
    assert.deepEqual(setting.value, ['ann'])
    await add(setting, 'bob')
    assert.equal(changes, 2)
    await setting.change((names) => ({ value: names, result: undefined }))
    await putSetting(engine, 'another', 'x')
    await setting.refresh()
    assert.equal(changes, 2)
    setting.close()
    await add(other, 'cid')
    await other.refresh()
    assert.deepEqual(setting.value, ['ann', 'bob'])
  })

  test('is not changed when the function that computes the change throws', async (context) => {
    const { engine } = await openEmbedded(context)
    const setting = await open(engine)
    await add(setting, 'ann')
    const decided = setting.change(() => {
      throw new RangeError('no')
    })
    await assert.rejects(decided, RangeError)
    assert.deepEqual(setting.value, ['ann'])
    assert.equal(await add(setting, 'bob'), 1)
  })

  test('is changed on the basis of the stored value, not of the last notification', async (context) => {
    const { engine } = await openEmbedded(context)
    const deaf: Engine = { ...engine, watchSettings: () => () => undefined }
    const setting = await open(deaf)
    await add(await open(engine), 'ann')
    assert.deepEqual(setting.value, [])
    assert.equal(await add(setting, 'bob'), 1)
    assert.deepEqual(setting.value, ['ann', 'bob'])
  })

  test('is read again when the read after a notification failed', async (context) => {
    const { engine } = await openEmbedded(context)
    let failures = 0
    const flaky: Engine = {
      ...engine,
      readSetting: (name) =>
        failures-- > 0
          ? Promise.reject(new EngineError('unavailable', 'no machine answers'))
          : engine.readSetting(name),
    }
    const setting = await open(flaky)
    failures = 1
    await add(await open(engine), 'ann')
    await eventually(() => failures < 0)
    await eventually(() => setting.value.length === 1)
    setting.close()
  })
})
