/** Commands as code: the code that the console shows also runs. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as fc from 'fast-check'
import { writeCurl } from '../../src/console/code/curl.ts'
import { writeTypeScript } from '../../src/console/code/typescript.ts'
import type { CodeRequest } from '../../src/console/code/code-request.ts'
import { codeLanguages } from '../../src/console/code/write-code.ts'
import { parseStored } from '../../src/json/parse.ts'
import type { JsonObject } from '../../src/json/value.ts'
import { startServer, testToken, type TestServer } from '../harness.ts'
import { cases, left } from './code-cases.ts'
import { runProgram, separator, type Ran } from './code-runs.ts'

/** Set SEED to repeat a failed run. */
const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

describe('a command as code', () => {
  let folder: string
  let server: TestServer
  before(async () => {
    server = await startServer({ adminPort: 0 })
    folder = await mkdtemp(join(tmpdir(), 'stela-code-'))
    const packages = fileURLToPath(new URL('../../node_modules', import.meta.url))
    await symlink(packages, join(folder, 'node_modules'))
  })
  after(async () => {
    await server.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function runCurl(texts: readonly string[]): Promise<Ran> {
    const script = texts.map((code) => `${code}\nprintf '\\n=== next ===\\n'\n`).join('')
    await writeFile(join(folder, 'all.sh'), script)
    return runProgram('bash', ['-e', 'all.sh'], folder, testToken)
  }

  /** Runs all texts in one process; each is a module that runs when it is imported. */
  async function runTypeScript(texts: readonly string[]): Promise<Ran> {
    const files = texts.map((_, position) => `example-${position}.mts`)
    await Promise.all(
      texts.map((code, position) => writeFile(join(folder, files[position]!), code)),
    )
    const all = files.map(
      (file) => `await import('./${file}')\nconsole.log('\\n=== next ===')\n`,
    )
    await writeFile(join(folder, 'all.mjs'), all.join(''))
    return runProgram(process.execPath, ['--no-warnings', 'all.mjs'], folder, testToken)
  }

  for (const [name, write, run] of [
    ['curl', writeCurl, runCurl],
    ['TypeScript', writeTypeScript, runTypeScript],
  ] as const)
    test(`has the expected effect when it runs as ${name}`, async () => {
      // The home database has the address of the server. Other databases have a path below it.
      const below = name === 'curl' ? '' : `/databases/${await createDatabase(server)}`
      const url = server.url + below
      const texts = cases.map(({ request }) => write({ ...request, url }))
      const { code, out, err } = await run(texts)
      assert.equal(code, 0, err)
      const printed = out.split(separator)
      cases.forEach(({ request, prints }, position) => {
        for (const pattern of prints)
          assert.match(printed[position]!, pattern, `${request.command} ${request.body}`)
      })
      for (const [path, command, expected] of left) {
        const { exact } = await server.send(`${below}/v1/default_keyspace${path}`, {
          method: 'POST',
          headers: { Token: testToken, 'Content-Type': 'application/json' },
          body: JSON.stringify(command),
        })
        const data = (exact as JsonObject).get('data') as JsonObject
        assert.deepEqual(data.get('documents'), parseStored(expected))
      }
    })

  test(`prints any value correctly in curl and TypeScript (SEED=${seed})`, async () => {
    const bodies = fc.sample(anyObject, { seed, numRuns: 30 })
    const received: string[] = []
    const recorder = createServer((request, response) => {
      void text(request).then((body) => {
        received.push(body)
        response.setHeader('Content-Type', 'application/json')
        response.end('{"status":{"insertedIds":["1"]},"data":{}}')
      })
    })
    await new Promise<void>((resolve) => recorder.listen(0, '127.0.0.1', resolve))
    const { port } = recorder.address() as AddressInfo
    const requests = bodies.map((body, position): CodeRequest => ({
      url: `http://127.0.0.1:${port}`,
      keyspace: 'default_keyspace',
      target: 'films',
      kind: 'collection',
      // insertOne is a method of the client. The client has no method for `do it`, so the code
      // sends it through the generic command function.
      command: position % 2 === 0 ? 'insertOne' : 'do it',
      body: `{"document": ${body}}`,
    }))
    try {
      for (const [run, write] of [
        [runCurl, writeCurl],
        [runTypeScript, writeTypeScript],
      ] as const) {
        received.length = 0
        const { code, err } = await run(requests.map(write))
        assert.equal(code, 0, err)
        assert.equal(received.length, requests.length)
        received.forEach((sent, position) => {
          const { command, body } = requests[position]!
          assert.deepEqual(
            parseStored(sent),
            new Map([[command, parseStored(body)]]),
            `SEED=${seed}`,
          )
        })
      }
    } finally {
      recorder.close()
    }
  })

  test('is available in every language, without the token', () => {
    for (const { name, needs, write } of codeLanguages)
      for (const { request } of cases) {
        const code = write({ ...request, url: 'https://data.example/prefix/' })
        assert.match(code, /STELA_TOKEN/, name)
        assert.match(code, /https:\/\/data\.example/, name)
        assert.match(code, /\/prefix/, name)
        assert.match(needs, /STELA_TOKEN/)
      }
  })

  test('cannot be generated from invalid JSON', () => {
    for (const { write } of codeLanguages)
      assert.throws(
        () =>
          write({
            ...cases[0]!.request,
            url: 'http://127.0.0.1',
            body: '{"filter": {a: 1}}',
          }),
        /double quotes/,
      )
  })
})

async function createDatabase({ adminUrl }: TestServer): Promise<string> {
  const response = await fetch(`${adminUrl}/v2/databases`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${testToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'second', keyspace: 'default_keyspace' }),
  })
  assert.equal(response.status, 201)
  return response.headers.get('location')!
}

const anyString = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom(
      ...Array.from(`'"\`\\$!{}%&<>/ \n\r\t\u0000\u0007\u007f\u2028a0u`),
    ),
    maxLength: 12,
  }),
  fc.constantFrom('__proto__', 'constructor', '$(date)', '${x}', '\ud800', '-1', '1.5', ''),
)

const numeral = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.bigInt().map(String),
  fc.constantFrom('1e400', '-0', '1E+2', '0.10', '123456789.123456789123456789', '-1e-30'),
)

/** JSON texts, because parsing would change numbers such as 1E+2, 0.10 and 1e400. */
const { value: anyValue } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    anyString.map((value) => JSON.stringify(value)),
    numeral,
    fc.constantFrom('true', 'false', 'null', '{"$date":1700000000000}', '[0.25,-1e-7,3]'),
    fc.array(tie('value'), { maxLength: 4 }).map((parts) => `[${parts.join(', ')}]`),
    objectOf(tie('value')),
  ),
}))

function objectOf(values: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const keys = fc.oneof(anyString, fc.nat({ max: 20 }).map(String))
  return fc
    .uniqueArray(fc.tuple(keys, values), { maxLength: 5, selector: ([key]) => key })
    .map((parts) => parts.map(([key, value]) => `${JSON.stringify(key)}: ${value}`))
    .map((parts) => `{${parts.join(', ')}}`)
}

const anyObject = objectOf(anyValue)
