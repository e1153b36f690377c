/**
 * The short form of `npm run hostile`. It checks that well-behaved clients are answered and that
 * attacks get the expected statuses. It does not check waiting times, which depend on the machine.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { killLeftovers } from '../faults/server-process.ts'
import { attacks } from './attacks.ts'
import { Bystander } from './bystander.ts'
import { HostileServer } from './hostile-server.ts'

/** One attack of each kind, with the statuses that are allowed as answers. */
const expected: Readonly<Record<string, readonly (number | 'none' | 'unread')[]>> = {
  'all-find': [200],
  'packed-unknown-token': [401],
  'pipelined-unread': ['unread'],
  'http2-window-0': [200, 503, 'none'],
  'accepted-encodings': [401, 429],
  'unfinished-valid-token': [503, 'none'],
  'index-fills': [200],
  'http2-rapid-reset': ['none'],
  'tls-handshakes': [200],
  'unknown-tokens': [401, 429],
  'large-synonyms': [200],
}

/**
 * Milliseconds between requests of a bystander. The pause is long to save processor time, because
 * this test does not measure waits.
 */
const restMs = 50

describe('while a client attacks, other clients are answered:', () => {
  after(() => killLeftovers())

  for (const attack of attacks.filter(({ name }) => Object.hasOwn(expected, name)))
    test(attack.request, async () => {
      const server = await HostileServer.start(attack.server)
      try {
        await attack.prepare?.(server)
        const bystander = await Bystander.start(server, restMs)
        await bystander.takeWhenAnswered()
        const answers = await attack.run(server, { holdSeconds: 2 })
        const seen = await bystander.takeWhenAnswered()
        await bystander.stop()
        for (const status of answers.keys())
          assert(expected[attack.name]!.includes(status), `answered with ${status}`)
        for (const { name, failed } of seen) assert.equal(failed, 0, `${name} failed`)
        assert(server.isAlive)
        assert.equal(server.complaints, '')
      } finally {
        await server.stop()
      }
    })
})
