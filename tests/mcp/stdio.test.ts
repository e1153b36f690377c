/** `stela mcp --stdio`, the program that desktop assistants start. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { forwardMessages } from '../../src/cli/mcp/forward-messages.ts'
import { readLines, tooLong } from '../../src/cli/mcp/read-lines.ts'
import { runStela } from '../cli/run-stela.ts'
import { RunningServer } from '../commands/running-server.ts'
import { temporaryFolder, testToken } from '../harness.ts'
import { program, serverEnvironment } from '../server-environment.ts'
import { Assistant, ownMeta, request, type Revision, type ToolAnswer } from './assistant.ts'

const running = new RunningServer()

interface Started {
  readonly assistant: Assistant
  readonly transport: StdioClientTransport
  /** The complete standard error, after it has ended. */
  readonly log: Promise<string>
}

async function startAssistant(
  args: readonly string[],
  revision: Revision,
): Promise<Started> {
  const env = { ...serverEnvironment, STELA_TOKEN: testToken }
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', program, 'mcp', '--stdio', ...args],
    env: JSON.parse(JSON.stringify(env)) as Record<string, string>,
    stderr: 'pipe',
  })
  const log = text(transport.stderr as Readable)
  return { assistant: await Assistant.over(transport, revision), transport, log }
}

describe('stela mcp --stdio', () => {
  test('opens a data folder and logs schema changes with their author', async () => {
    const dataDir = await temporaryFolder()
    const place = { keyspace: 'default_keyspace', collection: 'notes' }
    const { assistant, log } = await startAssistant(
      ['--data', dataDir, '--durability', 'relaxed'],
      '2026-07-28',
    )
    assert.deepEqual(await assistant.codes('createCollection', place), [])
    const document = { _id: 1, text: 'two\nlines' }
    assert.deepEqual(await assistant.codes('insertOne', { ...place, document }), [])
    const { structuredContent } = await assistant.call('find', place)
    assert.deepEqual(structuredContent!.documents, [document])
    await assistant.close()
    const audited = (await log).split('\n').filter((line) => line.includes('"audit"'))
    assert.equal(audited.length, 1)
    assert.match(audited[0]!, /createCollection.*default_keyspace\.notes/)
    await rm(dataDir, { recursive: true })
  })

  test('forwards messages to a running server until SIGTERM ends the program', async () => {
    const { url } = running.server
    const { assistant, transport } = await startAssistant(['--url', url], '2025-11-25')
    assert.deepEqual(await assistant.read('stela://keyspaces'), {
      keyspaces: ['default_keyspace'],
    })
    const closed = new Promise<void>((resolve) => (assistant.client.onclose = resolve))
    process.kill(transport.pid!, 'SIGTERM')
    await closed
  })

  test('rejects settings of a server that it does not start', async () => {
    const { url } = running.server
    const { code, out, err } = await runStela([
      ...['mcp', '--stdio', '--url', url, '--mcp', 'off', '--page-size', '5'],
    ])
    assert.equal(code, 1)
    assert.equal(out.length, 0)
    assert.match(err, /^stela: .*--page-size\b.* cannot be combined with --url/)
  })

  test('explains what to do when a server has locked the folder', async () => {
    const { code, out, err } = await runStela([
      ...['mcp', '--stdio', '--data', running.server.dataDir],
    ])
    assert.equal(code, 1)
    assert.equal(out.length, 0)
    assert.match(err, /^stela: .* is in use by .* --url\.\n$/)
  })
})

interface FoundPage {
  readonly documents: readonly { readonly _id: number }[]
  readonly nextPageState: string | null
}

/** Forwards these input lines to a server, and returns the output. */
async function forward(
  lines: readonly string[],
  { url = running.server.url, token = testToken } = {},
): Promise<Record<string, unknown>[]> {
  const output = new PassThrough()
  const input = Readable.from([Buffer.from(lines.join('\r\n'))])
  const endpoint = { url: `${url}/v1/mcp`, token }
  const never = new AbortController().signal
  const written = text(output)
  await forwardMessages(input, output, endpoint, never)
  output.end()
  const answers = (await written).split('\n').slice(0, -1)
  return answers.map((line) => JSON.parse(line) as Record<string, unknown>)
}

describe('newline-delimited messages', () => {
  test('are answered on one line each, whatever they contain', async () => {
    const answers = await forward([
      JSON.stringify(request('ping', undefined, 'é')),
      'not JSON',
      '',
      '   ',
      '[]',
      '5',
      'null',
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
      JSON.stringify(request('ping', undefined, null)),
      JSON.stringify(request('nothing', {}, 2)),
      JSON.stringify(request('server/discover', { _meta: ownMeta }, 3)),
      '\u0000\u0001',
      JSON.stringify(request('ping', undefined, 'last')),
    ])
    const told = answers.map(({ id, error }) => id ?? (error as { code: number }).code)
    assert.deepEqual(told.map((one) => JSON.stringify(one)).toSorted(), [
      '"last"',
      '"é"',
      '-32600',
      '-32600',
      '-32600',
      '-32600',
      '-32700',
      '-32700',
      '2',
      '3',
    ])
    const discovered = answers.find(({ id }) => id === 3)!
    assert.equal((discovered['result'] as { resultType: string }).resultType, 'complete')
  })

  test('get an error when the server rejects them or is unreachable', async () => {
    const lines = [JSON.stringify(request('ping'))]
    for (const [endpoint, says] of [
      [{ token: 'wrong' }, /Set STELA_TOKEN/],
      [{ url: 'http://127.0.0.1:1' }, /Cannot reach the server/],
    ] as const) {
      const [answer, ...more] = await forward(lines, endpoint)
      assert.deepEqual(more, [])
      assert.equal(answer!['id'], 1)
      assert.match((answer!['error'] as { message: string }).message, says)
    }
  })

  test('have replies below the maximum line length of SDKs', async () => {
    const { server } = running
    const send = (path: string, body: object) =>
      server.command(`/default_keyspace${path}`, body)
    const place = { keyspace: 'default_keyspace', collection: 'long' }
    await send('', {
      createCollection: { name: 'long', options: { indexing: { deny: ['*'] } } },
    })
    const insert = (_id: number, text: string) =>
      send('/long', { insertOne: { document: { _id, text } } })
    for (let n = 0; n < 20; n++) await insert(n, 'a'.repeat(280_000))
    const call = async (name: string, given: object) => {
      const params = { name, arguments: { ...place, ...given } }
      const [answer] = await forward([JSON.stringify(request('tools/call', params))])
      assert(Buffer.byteLength(JSON.stringify(answer)) < 8_388_608)
      return answer!['result'] as ToolAnswer
    }

    const shown: unknown[] = []
    let pageState: string | null = ''
    while (pageState !== null) {
      const { structuredContent, content, isError } = await call('find', {
        options: { pageState },
      })
      assert.equal(isError, false)
      const { documents, nextPageState } = structuredContent as unknown as FoundPage
      shown.push(...documents.map(({ _id }) => _id))
      const notes = content.map((piece) => piece.text).join(' ')
      assert.match(notes, /only in structuredContent/)
      if (nextPageState !== null) assert.match(notes, /send its nextPageState/i)
      pageState = nextPageState
    }
    assert.deepEqual(shown.toSorted(), [...Array(20).keys()].toSorted())

    const few = await call('find', { filter: { _id: { $lt: 2 } } })
    assert.deepEqual(JSON.parse(few.content[0]!.text), few.structuredContent)

    await insert(99, '\u4e2d'.repeat(3_900_000))
    const tooLarge = await call('findOne', { filter: { _id: 99 } })
    assert.equal(tooLarge.structuredContent!.errors![0]!.errorCode, 'REPLY_TOO_LARGE')
    const changed = await call('findOneAndUpdate', {
      filter: { _id: 99 },
      update: { $set: { seen: true } },
    })
    assert.equal(changed.isError, false)
    assert.equal(changed.structuredContent, undefined)
    assert.match(changed.content[0]!.text, /command succeeded/)
    assert.deepEqual(changed._meta!.status, { matchedCount: 1, modifiedCount: 1 })
  })

  test('can be sent concurrently', async () => {
    const ids = Array.from({ length: 100 }, (_, i) => i)
    const answers = await forward(ids.map((id) => JSON.stringify(request('ping', {}, id))))
    assert.deepEqual(
      answers.map(({ id }) => Number(id)).toSorted((a, b) => a - b),
      ids,
    )
  })

  test('can be cancelled: the request is aborted and gets no reply', async () => {
    const silent = createServer()
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const input = new PassThrough()
    const output = new PassThrough()
    const endpoint = { url: `http://127.0.0.1:${port}/v1/mcp`, token: 'a' }
    const done = forwardMessages(input, output, endpoint, new AbortController().signal)
    input.write(`${JSON.stringify(request('ping', {}, 'slow'))}\n`)
    const [asked] = (await once(silent, 'request')) as [Readable]
    const left = new Promise<void>((resolve) => {
      asked.on('error', () => undefined).once('close', resolve)
    })
    const params = { requestId: 'slow' }
    const method = 'notifications/cancelled'
    input.write(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`)
    await left
    input.end()
    await done
    assert.equal(output.readableLength, 0)
    silent.close()
  })

  test('are no longer forwarded after the signal is aborted', async () => {
    const input = new PassThrough()
    const stop = new AbortController()
    const endpoint = { url: `${running.server.url}/v1/mcp`, token: testToken }
    const done = forwardMessages(input, new PassThrough(), endpoint, stop.signal)
    stop.abort()
    await done
  })

  test('are reassembled from any chunks, and rejected when they are too long', async () => {
    const linesOf = (chunks: readonly string[]) => {
      const input = Readable.from(chunks.map((chunk) => Buffer.from(chunk)))
      const lines = readLines(input, 10, new AbortController().signal)
      return Array.fromAsync(lines, (line) => (line === tooLong ? '(too long)' : line))
    }
    assert.deepEqual(await linesOf(['a\nb', 'c\r\n\n', 'd']), ['a', 'bc', 'd'])
    const long = ['x'.repeat(8), 'x'.repeat(8), '\nshort\n', 'y'.repeat(11)]
    assert.deepEqual(await linesOf(long), ['(too long)', 'short', '(too long)'])
    assert.deepEqual(await linesOf([]), [])
  })
})
