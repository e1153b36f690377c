/**
 * The short form of `npm run hostile`. How long anybody waits depends on the machine; here it
 * is only asked whether everybody is answered, and the attack as it should be.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { killLeftovers } from '../faults/server-process.ts'
import { attacks } from './attacks.ts'
import { Bystander } from './bystander.ts'
import { HostileServer } from './hostile-server.ts'

/** The attacks that are run, one of each kind, and the statuses that may answer them. */
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

/** Stalls are not measured here, so the others need not keep the machine busy. */
const restMs = 50

describe('while a client attacks, the others are answered:', () => {
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
