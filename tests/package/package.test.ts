/**
 * The package as people install it: `npm pack` in a checkout, `npm install` of the file in an
 * empty folder and with an empty cache.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import ts from 'typescript'
import { printFindings } from '../../bench/report.ts'
import { measurePackage } from '../../bench/workloads/package.ts'
import { findPort } from '../cassandra/ports.ts'
import { temporaryFolder } from '../harness.ts'
import { BareRoot, readStages } from './bare-root.ts'
import { installPackage, root, type Installed } from './install-package.ts'
import {
  interrupt,
  readyUrl,
  runCommand,
  startCommand,
  type Started,
} from './run-command.ts'

const { version, files, exports } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
) as { version: string; files: readonly string[]; exports: object }

const [, running] = readStages(join(root, 'deploy/Dockerfile'))

let folder: string
let installed: Installed
let app: string
let env: Installed['env']

before(async () => {
  folder = await temporaryFolder()
  installed = await installPackage(folder)
  ;({ app, env } = installed)
})
after(() => rm(folder, { recursive: true, force: true }))

test('the package holds JavaScript, its types, pages, the console and the kernel, and nothing else', () => {
  const listed = installed.packed.files.map(({ path }) => path)
  const isUsual = /^(?:dist\/.*\.(?:js|js\.map)|build\/console\/[\w.-]+)$/
  const others = listed.filter((path) => !isUsual.test(path))
  assert.deepEqual(
    others.filter((path) => !/^dist\/.*\.(?:html|css)$/.test(path)).toSorted(),
    [
      ...['CHANGELOG.md', 'LICENSE', 'README.md', 'build/vector-kernel.wasm'],
      ...['dist/start-stela.cjs', 'dist/start-stela.d.cts', 'dist/start-stela.d.ts'],
      'package.json',
    ],
  )
  assert(listed.includes('dist/http/pages/root.html'))
  assert(listed.includes('dist/program.js.map'))
  assert(listed.includes('build/console/index.html'))
  for (const [path] of JSON.stringify(exports).matchAll(/(?<="\.\/)dist[^"]+/g))
    assert(listed.includes(path), path)
  assert.deepEqual(files, [
    ...['dist', 'build/vector-kernel.wasm', 'build/console', 'CHANGELOG.md'],
  ])
})

test('npx stela --version is the version', async () => {
  assert.equal(
    await runCommand('npx', ['stela', '--version'], { cwd: app, env }),
    `${version}\n`,
  )
})

describe('npx stela serve', () => {
  let server: Started
  let url: string
  let token: string
  before(async () => {
    const args = ['stela', 'serve', '--port', '0', '--admin-port', '0']
    server = startCommand('npx', args, { cwd: app, env })
    url = await readyUrl(server)
    token = /Stela:\S+/.exec(server.err)![0]
  })
  after(() => interrupt(server))

  async function send(path: string, body: object): Promise<Record<string, unknown>> {
    const response = await fetch(`${url}/v1/default_keyspace${path}`, {
      method: 'POST',
      headers: { Token: token },
      body: Buffer.from(JSON.stringify(body)),
    })
    const answer = (await response.json()) as Record<string, unknown>
    assert.equal(answer['errors'], undefined, JSON.stringify(answer))
    return answer
  }

  test('stores and finds by vector, on threads of its own', async () => {
    await send('', {
      createCollection: { name: 'a', options: { vector: { dimension: 2 } } },
    })
    const documents = [
      { _id: 'up', $vector: [0, 1] },
      { _id: 'right', $vector: [1, 0] },
    ]
    await send('/a', { insertMany: { documents } })
    const { data } = await send('/a', { findOne: { sort: { $vector: [0.9, 0.1] } } })
    assert.deepEqual(data, { document: { _id: 'right' } })
  })

  test('finds by words of a language', async () => {
    const lexical = { enabled: true, analyzer: 'german' }
    await send('', { createCollection: { name: 'b', options: { lexical } } })
    await send('/b', { insertOne: { document: { _id: 1, $lexical: 'Die alten Häuser' } } })
    const { data } = await send('/b', { findOne: { sort: { $lexical: 'Haus' } } })
    assert.deepEqual(data, { document: { _id: 1 } })
  })

  test('is backed up, and the copy is restored', async () => {
    const admin = /http:\S+(?=\/v2)/.exec(server.err)![0]
    const where = { cwd: app, env: { ...env, STELA_TOKEN: token } }
    await runCommand('npx', ['stela', 'backup', '--admin-url', admin, 'copy'], where)
    await runCommand('npx', ['stela', 'restore', 'copy', '--data', 'restored'], where)
  })

  test('has its pages', async () => {
    for (const path of ['/', '/console', '/swagger-ui', '/api/json/openapi', '/metrics'])
      assert.equal((await fetch(url + path)).status, 200, path)
  })
})

test('startStela serves a script, as a module and as CommonJS', async () => {
  const use = `
    const send = async ({ url, token }, path, body) => (await fetch(url + '/v1' + path, {
      method: 'POST', headers: { Token: token }, body: Buffer.from(JSON.stringify(body)),
    })).json()`
  writeFileSync(
    join(app, 'use.mjs'),
    `import { startStela } from 'stela'
    ${use}
    await using stela = await startStela({ keyspaces: ['library'] })
    await send(stela, '/library', { createCollection: { name: 'books' } })
    console.log(JSON.stringify(await send(stela, '/library', { findCollections: {} })))`,
  )
  writeFileSync(
    join(app, 'use.cjs'),
    `const { startStela } = require('stela')
    ${use}
    startStela().then(async (stela) => {
      console.log(JSON.stringify(await send(stela, '', { findKeyspaces: {} })))
      await stela.close()
    })`,
  )
  const run = (file: string) => runCommand('node', [file], { cwd: app, env })
  const [asModule, asScript] = await Promise.all([run('use.mjs'), run('use.cjs')])
  assert.equal(asModule, '{"status":{"collections":["books"]}}\n')
  assert.equal(asScript, '{"status":{"keyspaces":["default_keyspace"]}}\n')
})

test('startStela has types, for modules and for CommonJS', () => {
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ESNext,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  }
  const names = ['typed.mts', 'typed.cts'].map((name) => join(app, name))
  for (const name of names)
    writeFileSync(
      name,
      `import { startStela, type Stela, type StelaOptions } from 'stela'
      export async function use(options: StelaOptions): Promise<string> {
        await using stela: Stela = await startStela(options)
        // @ts-expect-error: options are known
        await startStela({ keyspace: 'one' })
        return stela.url + stela.token
      }`,
    )
  const problems = ts.getPreEmitDiagnostics(ts.createProgram(names, options))
  const said = problems.map(({ messageText }) =>
    ts.flattenDiagnosticMessageText(messageText, ''),
  )
  assert.deepEqual(said, [])
})

test('stela demo has things to try, also without the built-in model', async () => {
  const demo = startCommand('npx', ['stela', 'demo', '--port', '0'], { cwd: app, env })
  try {
    await readyUrl(demo)
    const shown = demo.err.match(/^curl [^]*?'\{.*\}'$/gm)!
    assert.equal(shown.length, 3)
    for (const command of shown) {
      const answer = await runCommand('sh', ['-c', command], { cwd: app })
      assert.match(answer, /^\{"data":\{"documents":\[\{/, command)
    }
  } finally {
    await interrupt(demo)
  }
})

test('its size and its starts can be measured', async () => {
  const { tables, figures } = await measurePackage(installed, 1, () => undefined)
  assert.doesNotMatch(printFindings({ tables, figures }), /NaN|Infinity|undefined/)
})

test('the image serves in a bare root that its user cannot write to, and is healthy', async () => {
  const built = join(folder, 'built')
  mkdirSync(built)
  for (const name of ['package.json', 'build', 'dist'])
    cpSync(join(installed.checkout, name), join(built, name), { recursive: true })
  cpSync(join(app, 'node_modules'), join(built, 'node_modules'), { recursive: true })
  const image = new BareRoot(join(folder, 'image'), running!, built)
  const port = String(await findPort(['127.0.0.1']))
  const environment = { STELA_PORT: port, STELA_ADMIN_TOKEN: 'secret' }
  assert.equal(await image.healthCheck(environment), 1)
  const child = image.start(environment)
  try {
    const [line] = (await once(child.stdout!, 'data')) as [Buffer]
    assert.equal(String(line), `stela ready http://127.0.0.1:${port}\n`)
    assert.equal(await image.healthCheck(environment), 0)
    const data = statSync(join(folder, 'image/data/catalog.db'))
    if (process.getuid!() === 0) assert.equal(data.uid, 1000)
  } finally {
    child.kill('SIGTERM')
    await once(child, 'close')
  }
  assert.equal(child.exitCode, 0)
})
