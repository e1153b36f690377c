/** Settings of the service, which several servers may share. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SharedSetting } from '../../../src/engine/shared-setting.ts'
import { eventually, putSetting, settingOf } from '../settings.ts'
import { RunningEngine, type World } from './world.ts'

export function describeSettings(name: string, world: World): void {
  describe(`${name}: settings`, () => {
    const running = new RunningEngine(world)
    test('are kept until they are changed', async () => {
      assert.equal(await running.engine.readSetting('never-written'), undefined)
      await putSetting(running.engine, 'greeting', 'hello')
      await putSetting(running.engine, 'greeting', 'hello\nagain "😀"')
      const written = await running.engine.readSetting('greeting')
      assert.equal(written!.value, 'hello\nagain "😀"')
      await running.reopen()
      assert.deepEqual(await running.engine.readSetting('greeting'), written)
    })

    test('are written only if they still have the expected version', async () => {
      const write = (value: string, expected: string | undefined) =>
        running.engine.writeSetting('contested', value, expected)
      assert.equal(await write('too early', 'a version'), undefined)
      assert.equal(await running.engine.readSetting('contested'), undefined)
      const first = await write('one', undefined)
      assert.equal(await write('too late', undefined), undefined)
      assert.deepEqual(await running.engine.readSetting('contested'), {
        value: 'one',
        version: first,
      })
      const second = await write('two', first)
      assert.notEqual(second, first)
      assert.equal(await write('too late', first), undefined)
      assert.equal(await settingOf(running.engine, 'contested'), 'two')
    })

    test('are written by exactly one of several concurrent writers', async () => {
      const attempts = Array.from({ length: 20 }, (_, i) =>
        running.engine.writeSetting('raced', `by ${i}`, undefined),
      )
      const versions = await Promise.all(attempts)
      const winner = versions.findIndex((version) => version !== undefined)
      assert.equal(versions.filter((version) => version !== undefined).length, 1)
      assert.deepEqual(await running.engine.readSetting('raced'), {
        value: `by ${winner}`,
        version: versions[winner],
      })
    })

    test('are reported by name to each watcher when they change, until the watcher stops', async () => {
      const heard: string[] = []
      const stop = running.engine.watchSettings((name) => heard.push(name))
      const heardToo: string[] = []
      const stopToo = running.engine.watchSettings((name) => heardToo.push(name))
      await putSetting(running.engine, 'watched', 'one')
      await eventually(() => heard.includes('watched') && heardToo.includes('watched'))
      stop()
      const count = heard.length
      await putSetting(running.engine, 'also-watched', 'two')
      await eventually(() => heardToo.includes('also-watched'))
      assert.equal(heard.length, count)
      stopToo()
    })

    test('have their new value when their change is reported', async () => {
      const seen: Promise<string | undefined>[] = []
      const stop = running.engine.watchSettings((name) => {
        if (name === 'told') seen.push(settingOf(running.engine, name))
      })
      await putSetting(running.engine, 'told', 'news')
      await eventually(() => seen.length > 0)
      assert.equal(await seen[0], 'news')
      stop()
    })

    test('that two servers share are written by one at a time, and reported to both', async () => {
      const [one, two] = await running.two()
      const heard: [string[], string[]] = [[], []]
      const stops = [one, two].map((engine, i) =>
        engine.watchSettings((name) => heard[i]!.push(name)),
      )
      const version = await one.writeSetting('held', 'by one', undefined)
      assert.deepEqual(await two.readSetting('held'), { value: 'by one', version })
      assert.equal(await two.writeSetting('held', 'too late', undefined), undefined)
      const next = await two.writeSetting('held', 'by two', version)
      assert.notEqual(next, undefined)
      assert.equal(await one.writeSetting('held', 'too late', version), undefined)
      assert.equal(await settingOf(one, 'held'), 'by two')
      await eventually(() => heard.every((names) => names.includes('held')))
      for (const stop of stops) stop()
    })

    test('that two servers change repeatedly keep the changes of both', async () => {
      const [one, two] = await running.two()
      const settings = [
        await SharedSetting.open<readonly string[]>(one, 'tokens', []),
        await SharedSetting.open<readonly string[]>(two, 'tokens', []),
      ]
      const names = Array.from({ length: 20 }, (_, i) => `name ${i}`)
      const change = (name: string, i: number) =>
        settings[i % 2]!.change((value) => {
          return { value: [...value, name], result: undefined }
        })
      await Promise.all(names.map(change))
      for (const setting of settings) {
        await eventually(() => setting.value.length === names.length)
        assert.deepEqual(setting.value.toSorted(), names.toSorted())
        setting.close()
      }
    })
  })
}
