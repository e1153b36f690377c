/**
 * Compares the documentation with the code: lists are complete, and examples have the
 * documented replies.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { after, before, describe, test } from 'node:test'
import { commandsAt, deprecated } from '../../src/commands/dispatch/registry.ts'
import { serveOptions } from '../../src/settings/serve-options.ts'
import { keyOf } from '../../src/language/values/key.ts'
import { createStore } from '../../src/engine/embedded/store/layout.ts'
import { catalog } from '../../src/errors/catalog.ts'
import type { CatalogEntry } from '../../src/errors/catalog-entry.ts'
import { parseStored } from '../../src/json/parse.ts'
import { defaultLimits, type Limits } from '../../src/limits.ts'
import * as catalogue from '../../src/search/lexical/analyzers.ts'
import { findLanguageProblem } from '../../src/search/lexical/languages/index.ts'
import { LetterModels } from '../commands/letter-models.ts'
import { startServer, type TestServer } from '../harness.ts'
import { readClients, readRecipe } from '../recipes/page.ts'
import { brokenLinks } from './broken-links.ts'
import { anonymous, assertAlike } from './compare-replies.ts'

const root = new URL('../../', import.meta.url)
const reference = new URL('docs/reference/', root)
const pages = readdirSync(reference).filter((name) => name.endsWith('.md'))
const clausePages = [
  'README.md',
  'analyzers.md',
  'column-types.md',
  'documents.md',
  'errors.md',
  'filters.md',
  'http.md',
  'management.md',
  'projection.md',
  'providers.md',
  'sort.md',
  'update-operators.md',
]

function read(path: string): string {
  return readFileSync(new URL(path, root), 'utf8')
}

function readPage(name: string): string {
  return readFileSync(new URL(name, reference), 'utf8')
}

/** The cells of all table rows, without code marks. */
function rowsOf(text: string): string[][] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| --'))
    .map((line) => line.slice(1, -1).split(/(?<!\\)\|/))
    .map((cells) => cells.map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')))
}

function pageOf(command: string): string {
  return `${command.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.md`
}

/** Every command with its name, once for each path level that accepts the command. */
const commands = Object.values(commandsAt).flatMap((known) => [...known])
const served = commands.filter(([name]) => !deprecated.has(name))

describe('the reference pages', () => {
  test('are one page per command, and the listed pages of other topics', () => {
    const expected = new Set([...served.map(([name]) => pageOf(name)), ...clausePages])
    assert.deepEqual(pages.toSorted(), [...expected].toSorted())
  })

  test('are all linked from the index of commands', () => {
    const index = readPage('README.md')
    for (const [name] of served)
      assert(index.includes(`[${name}](${pageOf(name)})`), `the index lacks ${name}`)
    for (const [name] of commands)
      assert(index.includes(name), `the index does not mention ${name}`)
  })

  test('name every field of every command', () => {
    for (const [name, command] of served) {
      const rows = rowsOf(readPage(pageOf(name))).map(([field]) => field!)
      for (const field of Object.keys(command.fields))
        assert(
          rows.some((row) => row === field || row.startsWith(`${field}.`)),
          `${pageOf(name)} has no row for ${field}`,
        )
    }
  })

  test('mention the deprecated name of a command on the page of its new name', () => {
    for (const [older, newer] of deprecated)
      assert(readPage(pageOf(newer)).includes(`\`${older}\``), older)
  })

  test('name only error codes that exist', () => {
    const known = new Set([
      ...Object.entries<CatalogEntry>(catalog).flatMap(([name, entry]) => [
        codeOf(name, entry),
        entry.scope,
      ]),
      // A status of models, which looks like an error code.
      'END_OF_LIFE',
    ])
    for (const page of pages)
      for (const [, code] of readPage(page).matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g))
        if (!code!.startsWith('STELA_')) assert(known.has(code!), `${page}: ${code!}`)
  })
})

describe('the errors page', () => {
  const sections = readPage('errors.md').split(/^## /m).slice(1)

  test('lists codes, families, scopes, titles and HTTP statuses as the catalog does', () => {
    const listed = sections.flatMap((section) => {
      const [, family, scope = ''] = /Family `(\w+)`, (?:no scope|scope `(\w+)`)/.exec(
        section,
      )!
      return rowsOf(section)
        .filter(([code]) => code !== 'Code')
        .map(([code, title, status]) =>
          [family, scope, nameIn(code!), unescape(title!), status].join(' '),
        )
    })
    const expected = Object.entries<CatalogEntry>(catalog).map(([name, entry]) =>
      [
        entry.family,
        entry.scope,
        codeOf(name, entry),
        entry.title,
        entry.status ?? 200,
      ].join(' '),
    )
    assert.deepEqual(listed.toSorted(), expected.toSorted())
  })

  test('marks the codes that the server never raises', () => {
    const sources = readdirSync(new URL('src', root), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && name !== 'errors/catalog.ts')
      .map((name) => read(`src/${name}`))
      .join('\n')
    const unraised = Object.entries<CatalogEntry>(catalog)
      .filter(([name]) => !sources.includes(`'${name}'`))
      .map(([name, entry]) => `${entry.scope} ${codeOf(name, entry)}`)
    const marked = sections.flatMap((section) => {
      const scope = /scope `(\w+)`/.exec(section)?.[1] ?? ''
      return rowsOf(section).flatMap(([code]) =>
        code!.endsWith('\\*') ? [`${scope} ${nameIn(code!)}`] : [],
      )
    })
    assert.deepEqual(marked.toSorted(), unraised.toSorted())
  })
})

function codeOf(name: string, entry: CatalogEntry): string {
  return entry.code ?? name
}

function nameIn(cell: string): string {
  return /\w+/.exec(cell)![0]
}

function unescape(text: string): string {
  return text.replaceAll('\\', '')
}

describe('the analyzers page', () => {
  const page = readPage('analyzers.md')
  const sectionOf = (title: string) => page.split(`## ${title}\n`)[1]!.split('\n## ')[0]!
  const codesIn = (text: string) =>
    [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!)

  test('lists the built-in analyzers', () => {
    const section = sectionOf('Built in')
    const named = [
      ...rowsOf(section).map(([name]) => name!),
      ...codesIn(section.match(/^- [^]*?(?=\n\n)/gm)!.join()),
    ]
    assert.deepEqual(named.slice(1).toSorted(), [...catalogue.builtInAnalyzers].toSorted())
  })

  for (const [title, components] of [
    ['Tokenizers', catalogue.tokenizers],
    ['Filters', catalogue.tokenFilters],
    ['Char filters', catalogue.charFilters],
  ] as const)
    test(`lists ${title.toLowerCase()} and their arguments`, () => {
      const section = sectionOf(title)
      const rows = section
        .split('\n')
        .filter((line) => line.startsWith('| `'))
        .map((line) => line.split('|').map(codesIn))
      // Filters for single languages are in a list below the table.
      const listed = codesIn((section.match(/^- [^]*?(?=\n\n)/gm) ?? []).join())
      assert.deepEqual(
        [...rows.flatMap(([, names]) => names!), ...listed].toSorted(),
        components.map(({ name }) => name).toSorted(),
      )
      for (const { name, required, optional } of components) {
        const row = rows.find(([, names]) => names!.includes(name))
        const told = row?.[3]?.length ? row[3] : codesIn(section)
        for (const argument of Object.keys({ ...required, ...optional }))
          assert(told.includes(argument), `${name} takes ${argument}`)
      }
    })

  test('lists the languages of snowballPorter', () => {
    const [, languages] = /`snowballPorter` knows ([^.]*)\./.exec(page)!
    const named = languages!.split(/,\s+|\s+and\s+/)
    assert.deepEqual(named, snowballLanguages())
  })
})

/** The languages that the error message for an unknown language lists. */
function snowballLanguages(): string[] {
  return findLanguageProblem('none')!.split('There are: ')[1]!.split(', ')
}

describe('the pages of settings', () => {
  test('list every setting with its variable and default', () => {
    const listedIn = (text: string) =>
      rowsOf(text)
        .filter(([flag]) => flag!.startsWith('--'))
        .map((cells) => cells.slice(0, 3))
    const ofCluster = read('docs/cassandra.md').split('## Settings')[1]!.split('\n## ')[0]!
    const expected = serveOptions().map((option) => [
      `--${option.name()}`,
      option.envVar,
      option.defaultValue === undefined ? 'none' : String(option.defaultValue),
    ])
    assert.deepEqual(
      [...listedIn(read('docs/settings.md')), ...listedIn(ofCluster)],
      expected,
    )
  })
})

describe('the README', () => {
  test('shows requests with the replies that the server sends', async (t) => {
    const curl =
      /curl -s \$STELA_URL\/v1(\S*) -H "Token: \$STELA_TOKEN" .*\\\n\s+-d '([^']*)'\n```\n\n```json\n([^`]*)```/g
    const server = await startServer()
    try {
      const offered = await server.command('', { findEmbeddingProviders: {} })
      if (!offered.text.includes('"local":')) {
        t.skip('the built-in model is not installed')
        return
      }
      const requests = [...read('README.md').matchAll(curl)]
      assert.equal(requests.length, 3)
      for (const [, path, body, reply] of requests) {
        const answer = await server.command(path!, body!)
        assertAlike(anonymous(answer.text), anonymous(reply!))
      }
    } finally {
      await server.close()
    }
  })

  test('has commands to run within its first 25 lines', () => {
    const lines = read('README.md').split('\n').slice(0, 25)
    assert(lines.indexOf('```sh') !== -1 && lines.indexOf('```') !== -1)
  })
})

test('each page of clients is a recipe for the version that the index of clients lists', () => {
  const clients = readClients(read('docs/clients/README.md'))
  const pages = readdirSync(new URL('docs/clients/', root)).filter(
    (name) => name !== 'README.md',
  )
  assert.deepEqual(clients.map(({ name }) => `${name}.md`).toSorted(), pages.toSorted())
  for (const { name, version } of clients) {
    const { install = 'any', files } = readRecipe(read(`docs/clients/${name}.md`))
    assert(
      [install, ...Object.values(files)].some((text) => text.includes(version)),
      name,
    )
  }
})

const models = await LetterModels.start()
after(() => models.close())

describe('an example', () => {
  const example = /`POST \/v1(\S*)`\n\n```json\n([^`]*)```\n\n```json\n([^`]*)```/g

  async function runExamples(page: string): Promise<number> {
    const examples = [...readPage(page).matchAll(example)]
    for (const [, path, body, reply] of examples) {
      const answer = await server.command(path!, body!)
      assert.equal(anonymous(answer.text), anonymous(reply!), `${page}: ${body!}`)
    }
    return examples.length
  }

  /** Pages that consist of tables, or whose examples another test sends. */
  const lists = ['column-types.md', 'errors.md', 'management.md']

  let server: TestServer
  before(async () => {
    server = await startServer({ durable: false, providers: models.settings })
  })
  after(() => server.close())

  /** Drops everything, so that the server is like a new one. */
  async function empty(): Promise<void> {
    const { body } = await server.command('', { findKeyspaces: {} })
    for (const name of body.status!['keyspaces'] as string[])
      await server.command('', { dropKeyspace: { name } })
    await server.command('', { createKeyspace: { name: 'default_keyspace' } })
  }

  for (const page of pages.filter((name) => !lists.includes(name)))
    test(`on page ${page} has the documented reply`, async () => {
      await empty()
      if (page !== 'README.md') await runExamples('README.md')
      const count = await runExamples(page)
      assert(count > 0, `${page} has no example`)
      const blocks = readPage(page).match(/```json/g)!.length
      assert(blocks - 2 * count <= 1, `${page} has an example that is not run`)
    })

  test('on any page is valid JSON', () => {
    for (const page of pages)
      for (const [, text] of readPage(page).matchAll(/```json\n([^`]*)```/g))
        assert.doesNotThrow(() => parseStored(text!), `${page}: ${text!}`)
  })
})

/** The limits in the order in which documents.md lists them. */
const listedLimits: readonly (keyof Limits)[] = [
  'documentLengthMax',
  'documentDepthMax',
  'pathLengthMax',
  'objectPropertiesMax',
  'documentPropertiesMax',
  'arrayLengthMax',
  'stringSizeMax',
  'numeralLengthMax',
  'vectorDimensionMax',
  'lexicalSizeMax',
  'nameLengthMax',
  'collectionsMax',
  'insertManyMax',
  'pageSize',
  'deleteManyMax',
  'countMax',
  'vectorLimitMax',
  'rerankLimitDefault',
  'hybridLimitMax',
  'clausePartsMax',
  'sortKeysMax',
  'filterComparisonsMax',
  'inValuesMax',
  'bodySizeMax',
  'bodyValuesMax',
  'replySizeMax',
]

test('limits have the values that documents.md lists', () => {
  const section = readPage('documents.md').split('## Limits')[1]!.split('\n## ')[0]!
  const listed = rowsOf(section).slice(1)
  assert.deepEqual(
    listed.map(([, value]) => Number(value!.replaceAll(' ', ''))),
    listedLimits.map((name) => defaultLimits[name]),
  )
})

test('links lead to existing pages and headings', () => {
  const pages = ['docs/**/*.md', 'bench/**/*.md', 'README.md', 'CHANGELOG.md']
  assert.deepEqual(brokenLinks(fileURLToPath(root), pages), [])
})

test('ARCHITECTURE.md gives a reason for each dependency, and lists no other packages', () => {
  const packages = JSON.parse(read('package.json')) as Record<
    'dependencies' | 'devDependencies' | 'optionalDependencies',
    Record<string, string>
  >
  const section = read('docs/ARCHITECTURE.md')
    .split('## Dependencies')[1]!
    .split('\n## ')[0]!
  const listed = [...section.matchAll(/^\| (`[^|]*)\|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`([^`]*)`/g)].map(([, name]) => name!),
  )
  const expected = Object.keys({
    ...packages.dependencies,
    ...packages.devDependencies,
    ...packages.optionalDependencies,
  })
  assert.deepEqual(listed.toSorted(), expected.toSorted())
})

test('a store has the tables that internals/store.md lists', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stela-docs-'))
  const file = join(folder, 'store.db')
  await createStore(file)
  const store = new DatabaseSync(file)
  const tables = store.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  const expected = tables.map(({ name }) => [
    name,
    ...store
      .prepare(`SELECT name FROM pragma_table_info('${String(name)}')`)
      .all()
      .map((column) => column['name']),
  ])
  store.close()
  await rm(folder, { recursive: true })
  const section = read('docs/internals/store.md')
    .split("## A collection's store")[1]!
    .split('**`doc.text`**')[0]!
  const listed = rowsOf(section)
    .slice(1)
    .map(([table, columns]) => [table, ...columns!.replaceAll('`', '').split(', ')])
  assert.deepEqual(listed.toSorted(), expected.toSorted())
})

test('values are encoded as the keys that internals/keys.md shows', () => {
  const examples = rowsOf(read('docs/internals/keys.md').split('## Examples')[1]!).slice(1)
  for (const [value, key] of examples)
    assert.equal(
      Buffer.from(keyOf(parseStored(value!))).toString('hex'),
      key!.replaceAll(' ', ''),
      value,
    )
})
