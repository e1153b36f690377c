/** `stela backup` from a hostile server writes nothing but files of a backup. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { isManifest } from '../../src/cli/backup/backup-folder.ts'
import { readBackup } from '../../src/cli/backup/backup-reader.ts'
import type { BackupManifest } from '../../src/engine/backup.ts'
import { runStela } from './run-stela.ts'

const home = mkdtempSync(join(tmpdir(), 'stela-hostile-'))
let server: Server
let url = ''
/** The reply body of the server. */
let sends = ''
let count = 0
let place = ''
let folder = ''

before(async () => {
  server = createServer((request, response) => {
    request.resume()
    response.end(sends)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => {
  server.close()
  rmSync(home, { recursive: true, force: true })
})
beforeEach(() => {
  place = join(home, `${++count}`)
  folder = join(place, 'deep', 'deeper', 'backups')
  mkdirSync(place)
})

const backUp = () => runStela(['backup', folder, '--admin-url', url])

function fileOf(key: string, content: string): string {
  return `${JSON.stringify({ file: key, size: content.length })}\n${content}`
}

const content = 'not a database'
const sha256 = createHash('sha256').update(content).digest('hex')
const file = { key: 'catalog-0000', size: content.length, sha256 }
const manifest: BackupManifest = {
  format: 1,
  server: '1.2.3',
  created: '2026-01-02T03:04:05.678Z',
  catalog: file,
  stores: [],
}
const manifestLine = (told: object) => `${JSON.stringify({ manifest: told })}\n`

function everything(): string[] {
  return readdirSync(place, { recursive: true, encoding: 'utf8' }).toSorted()
}

const badKeys = [
  '../../../evil-0000',
  '../evil-0000',
  '/tmp/evil-0000',
  'evil/0000000',
  'evil\\00000000',
  '..\\..\\evil-0000',
  'C:evil-0000',
  'evil-0000\0',
  '.evil-0000',
  '..',
  '',
  'evil-0000.db',
  'x'.repeat(121),
]

describe('a server that sends a backup', () => {
  test('cannot name a keyspace, collection or store that leads to another folder', () => {
    const store = { ...file, keyspace: 'k', name: 'n', uid: 'u' }
    assert(isManifest({ ...manifest, stores: [store] }))
    for (const bad of ['../../x', '..', '/x', 'a\\b', 'a\0', ''])
      for (const part of ['keyspace', 'name', 'uid'])
        assert(!isManifest({ ...manifest, stores: [{ ...store, [part]: bad }] }), bad)
  })

  for (const key of badKeys)
    test(`cannot choose a path with the key ${JSON.stringify(key.slice(0, 30))}`, async () => {
      const stream = [Buffer.from(fileOf(key, content))]
      await assert.rejects(Array.fromAsync(readBackup(streamOf(stream))), /is not a backup/)
      assert(!isManifest({ ...manifest, catalog: { ...file, key } }))
      const store = { ...file, key, keyspace: 'k', name: 'n', uid: 'u' }
      assert(!isManifest({ ...manifest, stores: [store] }))
    })

  test('cannot write outside the folder through the keys of files', async () => {
    sends = fileOf('../../../evil-0000', content) + manifestLine(manifest)
    const ran = await backUp()
    assert.equal(ran.code, 1)
    assert.match(ran.err, /is not a backup/)
    assert(!everything().some((name) => name.includes('evil')), everything().join())
    assert.deepEqual(readdirSync(join(folder, 'backups')), [])
  })

  for (const told of [
    { created: '../../../evil' },
    { created: '2026-01-02T03:04:05.678Z/../../evil' },
    { catalog: { ...file, key: '../../../evil-0000' } },
    { server: 'evil \u001b[2J' },
  ])
    test(`cannot store a manifest with ${JSON.stringify(told).slice(0, 60)}`, async () => {
      sends = fileOf(file.key, content) + manifestLine({ ...manifest, ...told })
      const ran = await backUp()
      assert.equal(ran.code, 1)
      assert.match(
        ran.err,
        /^stela: (?:the manifest that the server sent is invalid|the server did not send)/,
      )
      assert(!everything().some((name) => name.includes('evil')), everything().join())
      assert.deepEqual(readdirSync(join(folder, 'backups')), [])
      assert.deepEqual(readdirSync(join(folder, 'files')), [])
    })

  test('cannot replace files of earlier backups', async () => {
    sends = fileOf(file.key, content) + manifestLine(manifest)
    assert.equal((await backUp()).code, 0)
    sends = fileOf(file.key, 'overwritten!!!') + manifestLine(manifest)
    const ran = await backUp()
    assert.equal(ran.code, 1)
    assert.match(ran.err, /sent catalog-0000, a file that this folder already has/)
    assert.equal(readFileSync(join(folder, 'files', `${file.key}.db`), 'utf8'), content)
    assert.equal(readdirSync(join(folder, 'backups')).length, 1)
  })

  test('cannot send control characters to the terminal', async () => {
    sends = `${JSON.stringify({ error: 'gone\u001b]0;evil\u0007\nstela: all is well' })}\n`
    const ran = await backUp()
    assert.equal(ran.code, 1)

    assert.doesNotMatch(ran.err.slice(0, -1), /[\u0000-\u001f\u007f-\u009f]/)
  })
})

describe('symbolic links in a folder of backups', () => {
  test('are replaced, and their targets stay unchanged', async () => {
    sends = fileOf(file.key, content) + manifestLine(manifest)
    const victim = join(place, 'victim')
    writeFileSync(victim, 'mine')
    mkdirSync(join(folder, 'files'), { recursive: true })
    mkdirSync(join(folder, 'backups'))
    const links = [
      join(folder, 'files', `${file.key}.db`),
      join(folder, 'files', `${file.key}.db.partial`),
      join(folder, 'backups', '2026-01-02T03-04-05.678Z.json.partial'),
    ]
    for (const link of links) symlinkSync(victim, link)
    const ran = await backUp()
    assert.equal(ran.code, 0, ran.err)
    assert.equal(readFileSync(victim, 'utf8'), 'mine')
    assert(lstatSync(links[0]!).isFile())
  })

  test('to other folders are rejected, and these folders stay unchanged', async () => {
    const elsewhere = join(place, 'elsewhere')
    mkdirSync(elsewhere)
    writeFileSync(join(elsewhere, 'somebody-elses.db'), 'theirs')
    for (const part of ['files', 'backups']) {
      mkdirSync(folder, { recursive: true })
      symlinkSync(elsewhere, join(folder, part))
      const ran = await backUp()
      assert.equal(ran.code, 1)
      assert.match(ran.err, new RegExp(`${part} is a symbolic link`))
      const restored = await runStela(['restore', folder, '--data', join(place, 'data')])
      assert.equal(restored.code, 1)
      assert(!existsSync(join(place, 'data')))
      rmSync(folder, { recursive: true })
    }
    assert.deepEqual(readdirSync(elsewhere), ['somebody-elses.db'])
  })
})

async function* streamOf(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks
}
