/** `stela serve` as operators and scripts use it: flags, output and signals of the process. */
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../harness.ts'
import { program, serverEnvironment } from '../server-environment.ts'

interface Run {
  readonly child: ChildProcess
  out: string
  err: string
  readonly exit: Promise<number | null>
}

const running = new Set<ChildProcess>()
after(() => {
  for (const child of running) child.kill('SIGKILL')
})

function stela(
  args: readonly string[],
  environment: Record<string, string> = {},
  main = program,
): Run {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', main, ...args],
    {
      env: { ...serverEnvironment, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  running.add(child)
  const run: Run = {
    child,
    out: '',
    err: '',
    exit: once(child, 'close').then(([code]) => {
      running.delete(child)
      return code as number | null
    }),
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (run.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (run.err += text))
  return run
}

/**
 * Waits for the line that reports readiness, and returns its URL; throws when the process ends
 * first.
 */
async function ready(run: Run): Promise<string> {
  while (!run.out.includes('\n')) {
    const ended = await Promise.race([once(run.child.stdout!, 'data'), run.exit])
    if (!Array.isArray(ended)) throw new Error(`ended before it was ready: ${run.err}`)
  }
  return /^stela ready (\S+)\n$/.exec(run.out)![1]!
}

function findKeyspaces(url: string, token: string): Promise<Response> {
  return fetch(`${url}/v1`, {
    method: 'POST',
    headers: { Token: token },
    body: new TextEncoder().encode('{"findKeyspaces":{}}'),
  })
}

describe('stela', () => {
  test('--help describes the commands', async () => {
    const run = stela(['--help'])
    assert.equal(await run.exit, 0)
    assert.match(run.out, /stela serve/)
    assert.equal(run.err, '')
  })

  test('--version prints the version', async () => {
    const run = stela(['--version'])
    assert.equal(await run.exit, 0)
    assert.match(run.out, /^\d+\.\d+\.\d+\n$/)
  })

  test('rejects an unknown command', async () => {
    const run = stela(['dance'])
    assert.notEqual(await run.exit, 0)
    assert.match(run.err, /dance/)
  })
})

describe('stela serve', { concurrency: 4 }, () => {
  let parent: string
  let folders = 0
  before(async () => {
    parent = await temporaryFolder()
  })
  after(() => rm(parent, { recursive: true, force: true }))

  /** A data folder for one test. */
  function newFolder(): string {
    return join(parent, `data ${folders++}`)
  }

  test('--help lists flags with their environment variables', async () => {
    const run = stela(['serve', '--help'])
    assert.equal(await run.exit, 0)
    const help = run.out.replace(/\s+/g, ' ')
    for (const flag of [
      'host',
      'port',
      'data',
      'admin-token',
      'users',
      'page-size',
      'lexical',
    ]) {
      assert(help.includes(`--${flag} `), flag)
      assert(help.includes(`STELA_${flag.toUpperCase().replaceAll('-', '_')}`), flag)
    }
  })

  for (const [args, says] of [
    [['--prot', '1'], /--prot.*\n?.*--port/],
    [['--port', 'http'], /--port.*'http'.*0 to 65535/],
    [['--port', '65536'], /0 to 65535/],
    [['--port', '65535'], /65535 is the last port.*Set --admin-port/],
    [['--port', '9000', '--admin-port', '9000'], /both 9000/],
    [['--durability', 'high'], /'high'.*full, relaxed/],
    [['--log-level', 'loud'], /'loud'.*debug, info, warn, error, silent/],
    [['--lexical', 'maybe'], /'maybe'.*on, off/],
    [['--page-size', '0'], /'0'.*at least 1/],
    [['--page-size', '2.5'], /'2.5'.*whole number/],
    [['--max-body-size', '1000'], /--max-document-length/],
    [['--admin-token', ''], /--admin-token.*empty/],
    [['--users', 'joe'], /--users.*name:password/],
    [['--embedding-keys', 'opnai=k'], /"opnai" is not a provider/],
    [['--embedding-model', '/nowhere'], /no model in \/nowhere/],
    [['--search-threads', '0'], /1 to 64/],
    [['everything'], /too many arguments/],
  ] as const)
    test(`rejects ${args.join(' ')} and states the cause`, async () => {
      const run = stela(['serve', '--data', newFolder(), ...args])
      assert.notEqual(await run.exit, 0)
      assert.match(run.err, says)
      assert.equal(run.out, '')
    })

  test('names the environment variable of an invalid value', async () => {
    const run = stela(['serve', '--data', newFolder()], { STELA_PORT: 'http' })
    assert.notEqual(await run.exit, 0)
    assert.match(run.err, /STELA_PORT.*0 to 65535/)
  })

  test('hides secrets when a value is invalid', async () => {
    for (const [name, value] of [
      ['STELA_USERS', 'sesame'],
      ['STELA_EMBEDDING_KEYS', 'opnai=sesame'],
      ['STELA_RERANKING_KEYS', "x' is invalid=sesame"],
    ] as const) {
      const run = stela(['serve', '--data', newFolder()], { [name]: value })
      assert.notEqual(await run.exit, 0)
      assert(run.err.includes(name), run.err)
      assert(!run.err.includes('sesame'), run.err)
    }
    const flag = stela(['serve', '--data', newFolder(), '--users', 'sesame'])
    assert.notEqual(await flag.exit, 0)
    assert(!flag.err.includes('sesame'), flag.err)
  })

  test('creates a token on the first start, prints it once and keeps it', async () => {
    const args = ['serve', '--data', newFolder(), '--port', '0']
    const first = stela(args)
    const url = await ready(first)
    const token = /Stela:[\w-]+:[0-9a-f]{64}/.exec(first.err)![0]
    assert.equal((await findKeyspaces(url, token)).status, 200)

    const line = first.err.split('\n').find((line) => line.includes('curl '))!
    const shell = spawn('sh', ['-c', line], { stdio: ['ignore', 'pipe', 'ignore'] })
    let said = ''
    shell.stdout.on('data', (chunk) => (said += String(chunk)))
    await once(shell, 'close')
    assert.equal(said, '{"status":{"keyspaces":["default_keyspace"]}}')

    first.child.kill('SIGTERM')
    assert.equal(await first.exit, 0)
    assert.equal(first.out, `stela ready ${url}\n`)

    const second = stela(args)
    const again = await ready(second)
    assert.equal((await findKeyspaces(again, token)).status, 200)
    assert(!second.err.includes('Stela:'))
    second.child.kill('SIGINT')
    assert.equal(await second.exit, 0)
  })

  test('accepts the token and accounts of its environment, and creates no token', async () => {
    const run = stela(['serve'], {
      STELA_DATA: newFolder(),
      STELA_PORT: '0',
      STELA_ADMIN_TOKEN: 'any words will do',
      STELA_USERS: 'ann:one,bob:two:2',
      STELA_PAGE_SIZE: '',
    })
    const url = await ready(run)
    assert(!run.err.includes('Stela:'))
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    for (const [token, http] of [
      ['any words will do', 200],
      [`Cassandra:${base64('ann')}:${base64('one')}`, 200],
      [`Cassandra:${base64('bob')}:${base64('two:2')}`, 200],
      [`Cassandra:${base64('ann')}:${base64('two:2')}`, 401],
      ['any words', 401],
    ] as const)
      assert.equal((await findKeyspaces(url, token)).status, http, token)
    run.child.kill('SIGTERM')
    assert.equal(await run.exit, 0)
  })

  test('prefers a flag over its environment variable', async () => {
    const run = stela(
      ['serve', '--data', newFolder(), '--port', '0', '--admin-token', 'flag'],
      {
        STELA_ADMIN_TOKEN: 'variable',
      },
    )
    const url = await ready(run)
    assert.equal((await findKeyspaces(url, 'flag')).status, 200)
    assert.equal((await findKeyspaces(url, 'variable')).status, 401)
    run.child.kill('SIGTERM')
    assert.equal(await run.exit, 0)
  })

  test('rejects a folder that another server has open', async () => {
    const data = newFolder()
    const first = stela(['serve', '--data', data, '--port', '0'])
    const url = await ready(first)
    const second = stela(['serve', '--data', data, '--port', '0'])
    assert.equal(await second.exit, 1)
    assert.equal(second.out, '')
    assert.match(second.err, /^stela: .*in use by another/)
    assert(second.err.includes(data))

    const third = stela(['serve', '--data', newFolder(), '--port', new URL(url).port])
    assert.equal(await third.exit, 1)
    assert.match(third.err, /^stela: port \d+ on 127\.0\.0\.1 is in use.* --port/m)

    const ports = ['--port', '0', '--admin-port', new URL(url).port]
    const fourth = stela(['serve', '--data', newFolder(), ...ports])
    assert.equal(await fourth.exit, 1)
    assert.match(fourth.err, /^stela: port \d+ on 127\.0\.0\.1 is in use.* --admin-port/m)
    first.child.kill('SIGTERM')
    assert.equal(await first.exit, 0)
  })

  test('prints the log as JSON outside of a terminal, and as text with --log-format text', async () => {
    const flags = ['--port', '0', '--admin-port', '0', '--admin-token', 'x']
    for (const [format, printed] of [
      [[], /^\{"level":30,.*"msg":"The management API is at http:\/\/\S+"\}$/m],
      [['--log-format', 'text'], /^\S+Z INFO The management API is at http:\/\/\S+$/m],
    ] as const) {
      const run = stela(['serve', '--data', newFolder(), ...flags, ...format])
      await ready(run)
      run.child.kill('SIGTERM')
      assert.equal(await run.exit, 0)
      assert.match(run.err, printed)
    }
  })

  test('runs from a source checkout with all of its threads', async () => {
    const source = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
    const args = ['serve', '--data', newFolder(), '--port', '0', '--admin-token', 'x']
    const run = stela(args, {}, source)
    const url = await ready(run)
    const send = async (path: string, command: object) => {
      const answer = await fetch(`${url}/v1/default_keyspace${path}`, {
        method: 'POST',
        headers: { Token: 'x' },
        body: Buffer.from(JSON.stringify(command)),
      })
      return (await answer.json()) as { data?: { documents: unknown[] }; errors?: unknown }
    }
    const options = { vector: { dimension: 2 } }
    await send('', { createCollection: { name: 'points', options } })
    const documents = [1, 2, 3].map((_id) => ({ _id, $vector: [_id, 1] }))
    assert.equal((await send('/points', { insertMany: { documents } })).errors, undefined)
    const found = await send('/points', { find: { sort: { $vector: [3, 1] } } })
    assert.deepEqual(found.data!.documents[0], { _id: 3 })
    assert.equal(found.data!.documents.length, 3)
    run.child.kill('SIGTERM')
    assert.equal(await run.exit, 0)
  })

  test('exits immediately on a second stop signal', async () => {
    const run = stela(['serve', '--data', newFolder(), '--port', '0', '--admin-token', 'x'])
    const { hostname, port } = new URL(await ready(run))
    // The server waits for the rest of this request before it stops.
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    socket.write('POST /v1 HTTP/1.1\r\nHost: x\r\nToken: x\r\nContent-Length: 9\r\n\r\n{')
    await findKeyspaces(`http://${hostname}:${port}`, 'x')
    run.child.kill('SIGTERM')
    await assert.rejects(async () => {
      for (;;) await findKeyspaces(`http://${hostname}:${port}`, 'x')
    })
    run.child.kill('SIGTERM')
    assert.equal(await run.exit, 1)
    socket.destroy()
  })
})
