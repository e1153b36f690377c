/** Rules for the structure of the source: imports, layers, and the names and sizes of files. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { test } from 'node:test'

const root = new URL('../', import.meta.url)
const files = readdirSync(new URL('src', root), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .toSorted()

function read(path: string): string {
  return readFileSync(new URL(path, root), 'utf8')
}

/**
 * The parts that each part of the source may import, besides its own modules and `common` parts.
 */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  main: ['cli'],
  'start-stela': ['test-server'],
  'test-server': ['settings', 'server'],
  cli: ['settings', 'server', 'open-engine', 'engine', 'migrate', 'mcp', 'searchable'],
  server: [
    'settings',
    'shared-state',
    'open-engine',
    'http',
    'admin',
    'mcp',
    'auth',
    'collections',
    'commands',
    'databases',
    'engine',
    'engine/embedded',
    'providers',
    'search',
  ],
  'shared-state': ['settings', 'http', 'auth', 'collections'],
  'open-engine': [
    ...['settings', 'collections', 'engine', 'engine/cassandra', 'engine/embedded'],
  ],
  settings: ['http', 'mcp', 'auth', 'language', 'providers', 'engine', 'engine/cassandra'],
  http: ['auth', 'databases', 'commands', 'collections', 'providers', 'engine'],
  admin: ['http', 'auth', 'databases', 'engine'],
  mcp: ['http', 'auth', 'commands'],
  console: ['searchable'],
  searchable: [],
  auth: ['engine'],
  databases: ['engine'],
  migrate: ['engine', 'language', 'search'],
  commands: [
    'databases',
    'collections',
    'tables',
    'options',
    'paging',
    'language',
    'engine',
    'providers',
    'auth',
  ],
  collections: ['options', 'paging', 'language', 'search', 'providers', 'engine'],
  tables: ['options', 'paging', 'language', 'search', 'providers', 'engine'],
  options: ['language', 'providers', 'engine'],
  paging: ['language', 'search', 'providers', 'engine'],
  engine: ['language', 'search'],
  'engine/cassandra': ['engine', 'language', 'search'],
  'engine/embedded': ['engine', 'language', 'search'],
  language: ['search'],
  providers: [],
  search: [],
  errors: [],
  json: [],
  limits: [],
  caller: [],
  runtime: [],
}

const byAnyone = ['caller', 'errors', 'json', 'limits', 'runtime']

/**
 * The folders of a part, from the lowest layer to the highest. Each folder may import only earlier
 * ones. Files next to the folders form the highest layer.
 */
const layers: Readonly<Record<string, readonly string[]>> = {
  'engine/embedded': [
    ...['files', 'schema', 'worker', 'format', 'runs', 'store', 'lexical', 'vectors'],
    ...['read', 'reader-threads', 'catalog', 'write', 'targets', 'backup'],
  ],
  'engine/cassandra': [
    ...['cql', 'cluster', 'catalog', 'lexical', 'system', 'documents', 'rows'],
    ...['check', 'repair'],
  ],
  console: [
    ...['json', 'api', 'code', 'kit', 'navigation', 'catalog', 'completion', 'data'],
    ...[
      'operate',
      'samples',
      'embed',
      'browse',
      'fields',
      'files',
      'map',
      'query',
      'search',
      'app',
    ],
  ],
}

/** Parts in which files and folders must not form import cycles. "" is src itself. */
const withoutCircles = ['', 'language', 'cli', 'collections', 'tables', 'providers']

/** Packages that only certain modules may import. */
const homes: Readonly<Record<string, readonly string[]>> = {
  fastify: ['http', 'admin'],
  'prom-client': ['http'],
  'node:http': ['http', 'providers', 'cli', 'test-server'],
  'node:https': ['providers', 'cli', 'test-server'],
  'node:http2': ['http'],
  'node:sqlite': ['engine/embedded'],
  'cassandra-driver': ['engine/cassandra'],
  commander: ['main', 'cli', 'settings', 'test-server'],
}

/** The folders directly under src, in the order of docs/ARCHITECTURE.md. */
const layout = [
  ...['admin', 'auth', 'caller', 'cli', 'collections', 'commands', 'console', 'databases'],
  'engine',
  ...[
    'errors',
    'http',
    'json',
    'language',
    'mcp',
    'migrate',
    'options',
    'paging',
    'providers',
  ],
  ...['runtime', 'search', 'searchable', 'settings', 'tables'],
]

/** Maximum number of files per folder: about as many as a screen can list. */
const filesMax = 60

/** Modules that may import concrete engines. */
const engineUsers = ['server', 'cli', 'open-engine', 'settings']

/**
 * The part of a file: "engine/embedded" for src/engine/embedded/engine.ts, "limits" for
 * src/limits.ts.
 */
function partOf(file: string): string {
  const folder = posix.dirname(file)
  if (folder === '.') return posix.basename(file, '.ts')
  return engines.find((engine) => folder.startsWith(engine)) ?? folder.split('/')[0]!
}

const engines = ['engine/embedded', 'engine/cassandra']

interface Import {
  readonly file: string
  /** The file and line of an import, for messages. */
  readonly place: string
  readonly from: string
}

const importStatement =
  /^(?:import|export) (?:(?:type )?(?:\* as \w+|\*|\w+|(?:\w+, )?\{[^}]*\}) from )?'([^']+)'/gm

const imports: readonly Import[] = files.flatMap((file) => {
  const text = read(`src/${file}`)
  const statements = text.matchAll(importStatement)
  return [...statements].map((statement): Import => {
    const line = text.slice(0, statement.index).split('\n').length
    const shown = statement[0].replace(/\s+/g, ' ')
    return { file, place: `src/${file}:${line}: ${shown}`, from: statement[1]! }
  })
})

/** Fails if there are offences, and lists them below the reason. */
function assertNone(offences: readonly string[], reason: string): void {
  assert.equal(offences.length, 0, `${reason}:\n${offences.join('\n')}`)
}

test('every part of the source imports only allowed parts', () => {
  const offences = imports.flatMap(({ file, place, from }) => {
    if (!from.startsWith('.')) return []
    const part = partOf(file)
    const target = partOf(posix.join(posix.dirname(file), from))
    const allowed = mayImport[part]
    if (allowed === undefined)
      return [`src/${file} is in no known part; add it to mayImport`]
    const isFree = part !== 'console' && byAnyone.includes(target)
    if (target === part || isFree || allowed.includes(target)) return []
    return [`${place}\n  ${part} may import ${allowed.join(', ') || 'nothing of ours'}`]
  })
  assertNone(offences, 'docs/ARCHITECTURE.md, "Folders", says who imports whom')
})

test('files have no import cycles, including type imports', () => {
  const between = imports.flatMap(({ file, place, from }) =>
    from.startsWith('.')
      ? [{ place, from: file, to: posix.join(posix.dirname(file), from) }]
      : [],
  )
  const offences = circlesOf(between).map(({ place }) => place)
  assertNone(offences, 'what two files need of each other belongs into a third')
})

test('folders of a part import only lower layers', () => {
  const offences = Object.entries(layers).flatMap(([part, order]) =>
    importsWithin(part).flatMap(({ place, from, to }) => {
      if (from === '') return []
      const rank = order.indexOf(from)
      if (rank === -1) return [`src/${part}/${from} has no place among the layers`]
      return to !== '' && order.slice(0, rank).includes(to) ? [] : [place]
    }),
  )
  assertNone(offences, 'docs/ARCHITECTURE.md, "Folders", lists them from the lowest')
})

test('folders of a part have no import cycles', () => {
  const offences = withoutCircles.flatMap((part) =>
    circlesOf(importsWithin(part)).map(({ place }) => place),
  )
  assertNone(offences, 'move what both need into a folder below them')
})

/**
 * The links that form cycles. Repeatedly removes nodes without incoming or outgoing imports, and
 * returns the remaining links.
 */
function circlesOf(between: readonly Link[]): readonly Link[] {
  let left = between
  for (let before = Infinity; left.length < before;) {
    before = left.length
    const importing = new Set(left.map(({ from }) => from))
    const imported = new Set(left.map(({ to }) => to))
    left = left.filter(({ from, to }) => importing.has(to) && imported.has(from))
  }
  return left
}

/** The imports between the folders of a part. Files directly in the part count as the folder "". */
function importsWithin(part: string): Link[] {
  const start = part === '' ? '' : `${part}/`
  const folderOf = (file: string) => {
    const [first = '', ...rest] = file.slice(start.length).split('/')
    // A file directly under src counts as a part with the name of the file.
    return rest.length > 0 || part === '' ? first : ''
  }
  return imports.flatMap(({ file, place, from }) => {
    if (!from.startsWith('.') || !file.startsWith(start)) return []
    const target = posix.join(posix.dirname(file), from)
    if (!target.startsWith(start) || folderOf(file) === folderOf(target)) return []
    return [{ place, from: folderOf(file), to: folderOf(target) }]
  })
}

interface Link {
  readonly place: string
  readonly from: string
  readonly to: string
}

test('only designated modules import a concrete engine', () => {
  const offences = files.flatMap((file) => {
    const part = partOf(file)
    if (engines.includes(part) || engineUsers.includes(part)) return []
    const strings = read(`src/${file}`).matchAll(
      /(?:from|import|import\(|URL\() ?'([^']+)'/g,
    )
    return [...strings]
      .map(([, from]) => posix.join(posix.dirname(file), from!))
      .filter((target) => engines.some((engine) => target.startsWith(engine)))
      .map((target) => `src/${file} imports ${target}`)
  })
  assertNone(offences, 'the contract is all that others know of an engine')
})

test('packages with a designated module are imported only there', () => {
  const offences = imports.flatMap(({ file, place, from }) => {
    const home = homes[from]
    if (home === undefined || home.includes(partOf(file))) return []
    return [`${place}\n  ${from} belongs to ${home.join(', ')}`]
  })
  assertNone(offences, 'a package with one home can be replaced in one place')
})

test('node:http is imported only for its types', () => {
  const offences = imports
    .filter(({ from, place }) => from === 'node:http' && !place.includes(': import type '))
    .map(({ place }) => place)
  assertNone(offences, 'an import loads a WebSocket client; use src/runtime/node-http.ts')
})

test('only packages that package.json lists are imported', () => {
  const { dependencies, optionalDependencies, devDependencies } = JSON.parse(
    read('package.json'),
  ) as Record<
    'dependencies' | 'optionalDependencies' | 'devDependencies',
    Record<string, string>
  >
  const listed = { ...dependencies, ...optionalDependencies }
  const offences = imports.flatMap(({ file, place, from }) => {
    // The console is bundled, so its packages are development dependencies.
    const known = partOf(file) === 'console' ? devDependencies : listed
    return from.startsWith('.') || from.startsWith('node:') || packageOf(from) in known
      ? []
      : [place]
  })
  assertNone(offences, 'a package that another one happens to bring may go away with it')
})

/** "@scope/name" for "@scope/name/part". */
function packageOf(from: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(from)![0]
}

test('folders match the layout, and none exceeds the maximum number of files', () => {
  const folders = new Set(files.map((file) => posix.dirname(file)))
  const strange = [...folders]
    .map((folder) => folder.split('/')[0]!)
    .filter((folder) => folder !== '.' && !layout.includes(folder))
  assertNone(strange, 'a new folder under src needs a place in docs/ARCHITECTURE.md')
  const counts = new Map<string, number>()
  for (const root of ['src', 'tests'])
    for (const { parentPath } of entriesOf(root).filter(({ name }) => name.endsWith('.ts')))
      counts.set(parentPath, (counts.get(parentPath) ?? 0) + 1)
  const full = [...counts].filter(([, count]) => count > filesMax)
  assertNone(
    full.map(([folder, count]) => `${folder}: ${count} files`),
    `a folder holds at most ${filesMax} files; find the folders in it`,
  )
})

function entriesOf(folder: string) {
  return readdirSync(new URL(folder, root), { recursive: true, withFileTypes: true })
}

test('commands/ contains only files of commands and the folders dispatch/ and replies/', () => {
  const registry = read('src/commands/dispatch/registry.ts')
  const offences = files.flatMap((file) => {
    const [first, second, ...deeper] = file.split('/')
    if (first !== 'commands') return []
    if (second!.endsWith('.ts'))
      return registry.includes(`from '../${second}'`) ? [] : [`src/${file} is no command`]
    const isKnown = ['dispatch', 'replies'].includes(second!) && deeper.length === 1
    return isKnown ? [] : [`src/${file} is in neither dispatch/ nor replies/`]
  })
  assertNone(offences, 'who knows the API can guess the file')
})

test('files are named in kebab-case, and no folder has a generic name such as utils', () => {
  const offences = files.filter(
    (file) =>
      !/^(?:[a-z0-9]+(?:-[a-z0-9]+)*\/)*[a-z0-9]+(?:-[a-z0-9]+)*(?:\.d)?\.tsx?$/.test(
        file,
      ) || /(?:^|\/)(?:utils?|helpers?|common|misc)(?:\/|\.tsx?$)/.test(file),
  )
  assertNone(offences, 'a file is named for what is in it')
})

test('no module has a default export', () => {
  const offences = files.filter((file) => /^export default\b/m.test(read(`src/${file}`)))
  assertNone(offences, 'an exported thing has one name everywhere')
})

test('no text file contains a mark of a merge conflict', () => {
  const offences = ['src', 'tests', 'bench', 'docs', 'package', 'deploy'].flatMap(
    (folder) =>
      readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(?:tsx?|js|md|css|json|ya?ml|sh)$/.test(name))
        .filter((name) => /^(?:<{7}|>{7}) /m.test(read(`${folder}/${name}`)))
        .map((name) => `${folder}/${name}`),
  )
  assertNone(offences, 'a merge is resolved before it is committed')
})

/**
 * Modules whose exports are used outside the source: by users of the package, and by WebAssembly.
 */
const outside = /^(?:start-stela\.ts|search\/vector\/kernel\/)/

test('every export is imported by another file', () => {
  const readers = ['src', 'tests', 'bench', 'package'].flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => `${folder}/${name}`),
  )
  const used = new Set<string>()
  for (const path of readers) {
    const text = read(path)
    const target = (from: string) => posix.join(posix.dirname(path), from)
    for (const [, names, from] of text.matchAll(namedImport))
      for (const [name] of names!.matchAll(/[\w$]+/g)) used.add(`${target(from!)} ${name}`)
    // An import of a whole module may use all exports of the module, so all of them count as used.
    for (const [, from] of text.matchAll(/(?:import\(|\* as \w+ from )\s*'(\.[^']+)'/g))
      used.add(target(from!))
  }
  const offences = files.flatMap((file) => {
    const path = `src/${file}`
    if (outside.test(file) || used.has(path)) return []
    const exported = Array.from(read(path).matchAll(exportedValue), ([, name]) => name!)
    return exported
      .filter((name) => !used.has(`${path} ${name}`))
      .map((name) => `${path}: ${name}`)
  })
  assertNone(offences, 'remove what nobody uses, and export what others do')
})

const namedImport = /^(?:import|export) (?:type )?(?:\w+, )?\{([^}]*)\} from '(\.[^']+)'/gm
const exportedValue =
  /^export (?:async )?(?:function\*?|const|class|abstract class) (\w+)/gm

/**
 * Maximum number of lines of a file, about two dozen screens. The error catalog is a list, and may
 * be longer.
 */
const linesMax = 550
const lists = ['errors/catalog.ts']

test('no file exceeds the maximum length', () => {
  const offences = files.flatMap((file) => {
    const lines = read(`src/${file}`).split('\n').length
    return lines > linesMax && !lists.includes(file) ? [`src/${file}: ${lines} lines`] : []
  })
  assertNone(offences, `files have at most ${linesMax} lines`)
})

/**
 * Modules that may define maxima of their own, which belong to a format, an algorithm, a type or a
 * layout.
 */
const ownNumbers = [
  ...['engine/cassandra/', 'engine/embedded/', 'json/', 'language/', 'migrate/'],
  ...['providers/local/', 'search/'],
]

/** Other modules with maxima that clients cannot observe. */
const unmetNumbers = [
  ...['admin/backup-stream.ts: tellingMsMax', 'auth/local-lockout.ts: goodMax'],
  ...['collections/change.ts: pauseMsMax', 'collections/records.ts: shownAtOnceMax'],
  ...['engine/shared-setting.ts: attemptsMax', 'http/address.ts: knownMax'],
  ...['http/address.ts: knownLengthMax', 'http/local-rate-limit.ts: bucketsMax'],
  ...['http/refuse.ts: keepMaxUnknown', 'http/turns.ts: iterationsMax'],
  ...['mcp/message.ts: joinedMax'],
  ...['mcp/tool-result.ts: littleMax', 'mcp/tool-descriptions.ts: examplesMax'],
  ...['paging/page-state.ts: valuesMax'],
]

test('limits that clients and operators observe are defined in limits.ts', () => {
  const offences = files.flatMap((file) => {
    if (/^(?:limits\.ts|(?:settings|cli|console|searchable)\/)/.test(file)) return []
    const isOwn = ownNumbers.some((folder) => file.startsWith(folder))
    const text = read(`src/${file}`)
    const constants = text.matchAll(/^(?:export )?const (\w*Max\w*) = [\d(]/gm)
    return Array.from(constants, ([, name]) => `${file}: ${name!}`).filter((found) => {
      const name = found.split(' ')[1]!
      // Clients can observe a number in a message, or one passed as `max`, in any module.
      const isTold = new RegExp(`\\$\\{${name}\\}|\\bmax: ${name}\\b`).test(text)
      return isTold || !(isOwn || unmetNumbers.includes(found))
    })
  })
  assertNone(offences, 'a promise has one place: move the number to fixedLimits')
})

test('no two types have the same name', () => {
  // The console is a separate program, which may define types with the same names.
  const programs = [
    files.filter((file) => !file.startsWith('console/')),
    files.filter((file) => file.startsWith('console/')),
  ]
  const offences = programs.flatMap((program) => {
    const homes = new Map<string, string[]>()
    for (const file of program)
      for (const [, name] of read(`src/${file}`).matchAll(exportedType))
        homes.set(name!, [...(homes.get(name!) ?? []), `src/${file}`])
    return [...homes]
      .filter(([, places]) => places.length > 1)
      .map(([name, places]) => `${name}: ${places.join(', ')}`)
  })
  assertNone(offences, 'one word, one meaning: say what it is')
})

const exportedType = /^export (?:declare )?(?:abstract )?(?:class|interface|type) (\w+)/gm
