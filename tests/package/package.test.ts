/**
 * Tests the package as users install it: `npm pack` in a checkout, and `npm install` of the packed
 * file in an empty folder with an empty cache.
 */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import ts from 'typescript'
import { printFindings } from '../../bench/report.ts'
import { measurePackage } from '../../bench/workloads/package.ts'
import { brokenLinks } from '../docs/broken-links.ts'
import { temporaryFolder } from '../harness.ts'
import { installPackage, root, type Installed } from './install-package.ts'
import {
  interrupt,
  readyUrl,
  runCommand,
  startCommand,
  type Started,
} from './run-command.ts'
import { tryImage } from './try-image.ts'

const { version, exports } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
) as { version: string; exports: object }

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

test('the package contains JavaScript, types, pages, the console, the kernel and docs, and nothing else', () => {
  const listed = installed.packed.files.map(({ path }) => path)
  const isUsual =
    /^(?:bin\/stela\.js|dist\/.*\.(?:js|js\.map)|build\/console\/[\w.-]+|docs\/.*\.(?:md|png|svg)|bench\/(?:lab\/)?[\w-]+\.(?:md|svg))$/
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
})

test('links of the packaged pages lead to packaged files', () => {
  const inside = join(app, 'node_modules', 'stela')
  assert.deepEqual(brokenLinks(inside, ['{*,docs/**/*,bench/**/*}.md']), [])
})

/**
 * npm warns about install scripts, even about a `prepare` script, which it would not run. So the
 * package builds in the `dependencies` script, which npm runs only in a checkout.
 */
test('the packaged package.json equals that of the checkout, without install scripts', () => {
  const packed = readFileSync(join(app, 'node_modules', 'stela', 'package.json'), 'utf8')
  assert.equal(packed, readFileSync(join(root, 'package.json'), 'utf8'))
  const { scripts } = JSON.parse(packed) as { scripts: object }
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare'])
    assert(!(name in scripts), name)
})

test('npx stela --version prints the version', async () => {
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

  test('stores documents and searches vectors with its own threads', async () => {
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

  test('searches terms with the analyzer of a language', async () => {
    const lexical = { enabled: true, analyzer: 'german' }
    await send('', { createCollection: { name: 'b', options: { lexical } } })
    await send('/b', { insertOne: { document: { _id: 1, $lexical: 'Die alten Häuser' } } })
    const { data } = await send('/b', { findOne: { sort: { $lexical: 'Haus' } } })
    assert.deepEqual(data, { document: { _id: 1 } })
  })

  test('writes a backup that can be restored', async () => {
    const admin = /http:\S+(?=\/v2)/.exec(server.err)![0]
    const where = { cwd: app, env: { ...env, STELA_TOKEN: token } }
    const run = (...words: string[]) => runCommand('node_modules/.bin/stela', words, where)
    await run('backup', '--admin-url', admin, 'copy')
    await run('restore', 'copy', '--data', 'restored')
  })

  test('serves the console, the OpenAPI pages and metrics', async () => {
    for (const path of ['/', '/console', '/swagger-ui', '/api/json/openapi', '/metrics'])
      assert.equal((await fetch(url + path)).status, 200, path)
  })
})

test('startStela can be called from modules and from CommonJS', async () => {
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

test('startStela has type declarations for modules and for CommonJS', () => {
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

test('stela demo creates sample data, even without the built-in model', async () => {
  const words = ['demo', '--port', '0']
  const demo = startCommand('node_modules/.bin/stela', words, { cwd: app, env })
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

test('the package study of the benchmark prints results without NaN, Infinity or undefined', async () => {
  const { tables, figures } = await measurePackage(installed, 1, () => undefined)
  assert.doesNotMatch(printFindings({ tables, figures }), /NaN|Infinity|undefined/)
})

test('the image serves in a minimal root folder that its user cannot write to', async () => {
  const built = join(folder, 'built')
  mkdirSync(built)
  for (const name of ['package.json', 'build', 'dist'])
    cpSync(join(installed.checkout, name), join(built, name), { recursive: true })
  cpSync(join(app, 'node_modules'), join(built, 'node_modules'), { recursive: true })
  await tryImage(join(folder, 'image'), built)
})
