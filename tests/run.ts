/**
 * The program of `npm test`: runs the checks and all tests concurrently. `--tests` omits the
 * checks. `--quick` runs the most informative tests in a minute. Prints failures and a summary.
 * Files that need a real Cassandra share a node, which starts while other files run
 * (cassandra/test-node.ts). Tests with missing requirements are skipped and counted. With CI=true,
 * the run fails if a program is missing.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative, sep } from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { run } from 'node:test'
import { spec as Spec, type TestEvent } from 'node:test/reporters'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { SharedNode } from './cassandra/test-node.ts'
import { findMissing, sharedNodeModule, TestImports, type Missing } from './requirements.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

const { values: chosen } = parseArgs({
  options: { tests: { type: 'boolean' }, quick: { type: 'boolean' } },
})

/** Scripts of package.json, the longest-running script first. */
const checksInFull = ['lint', 'types', 'format:check']
const checks = chosen.tests ? [] : chosen.quick ? ['types'] : checksInFull

/** Tests without a server, and the documented examples, which together send every command. */
const quick = [
  'tests/{auth,collections,errors,json,language,language/columns,paging}/*.test.ts',
  'tests/search/{hybrid,lexical}/*.test.ts',
  'tests/engine/memory/memory.test.ts',
  'tests/docs/docs.test.ts',
  'tests/tidy.test.ts',
]

/**
 * Folders whose files take longest. They start first, so that none of them runs alone at the end.
 * The Cassandra files come later: downloading Cassandra takes minutes, and files that wait for it
 * would keep cores idle.
 */
const first = [
  ...['package', 'faults', 'upgrade', 'cassandra', 'hostile', 'fuzz', 'torture'],
  ...['console', 'engine', 'cli', 'model', 'spec'],
]

/**
 * Folders of short files, in which loading the source takes most of the time. These files share
 * processes, so that each process loads the source once.
 */
const short = [
  ...['admin', 'auth', 'caller', 'clients', 'collections', 'commands'],
  ...['console', 'databases', 'docs', 'engine', 'errors', 'http', 'json'],
  ...['language', 'mcp', 'paging', 'providers', 'runtime', 'search', 'searchable'],
]
const groupSize = 12

const describeImport = "import { describe } from 'node:test'"

/** Closes the shared browser after all tests of console pages have ended. */
const sharedBrowser = [`import '${hrefOf('tests/console/shared-browser.ts')}'`]

/**
 * Files of the `short` folders that run in processes of their own, because they take long or
 * measure their process.
 */
const alone = [
  ...['docs/differences', 'engine/memory/memory', 'http/back-pressure'],
  ...['backup/backup', 'embedded', 'lexical/lexical', 'read/vector-search'].map(
    (name) => `engine/embedded/${name}`,
  ),
  'engine/embedded/reader-threads/readers',
  ...['http/compression', 'http/large-replies', 'http/large-requests', 'http/load'],
  ...['http/long-reads', 'http/metrics', 'http/page-in-browser', 'http/value-memory'],
].map((name) => join('tests', `${name}.test.ts`))

// Test processes and their servers inherit this cache. Otherwise each of them would compile the
// same few hundred files.
process.env['NODE_COMPILE_CACHE'] ??= `${root}node_modules/.cache/stela/compiled`

const missing = await findMissing()
if (process.env['CI'] !== undefined && !chosen.quick) refuse()
const [node] = chosen.quick ? [] : await Promise.all([startNode(), buildProgram()])
const failed = await Promise.all([runChecks(), runTests()])
const complaint = await node?.remove()
if (complaint !== undefined) console.log(`✖ ${complaint}`)
process.exitCode = failed.includes(true) || complaint !== undefined ? 1 : 0

/** Exits with an error if CI=true and a required program is missing. */
function refuse(): void {
  const tools = missing.filter(({ isTool }) => isTool)
  for (const { reason } of tools) console.log(`✖ ${reason}`)
  if (tools.length > 0) process.exit(1)
}

/**
 * Starts the shared Cassandra node. Returns undefined if tests on a node are skipped, or if the
 * environment names a running node.
 */
async function startNode(): Promise<SharedNode | undefined> {
  const isMissing = missing.some(({ modules }) => modules.includes(sharedNodeModule))
  return isMissing ? undefined : SharedNode.start()
}

/**
 * Builds the package if the sources have changed. Tests run its program as a process (server-environment.ts), and servers in
 * test processes start their threads from it. Both start faster than from the source.
 */
async function buildProgram(): Promise<void> {
  if (!(await runScript('build:stale'))) process.exit(1)
  process.env['STELA_TEST_PROGRAM'] = join(root, 'dist/main.js')
  process.env['STELA_TEST_BUILT'] = pathToFileURL(join(root, 'dist/')).href
}

/** Runs the checks one after another, so that tests can use the other cores. */
async function runChecks(): Promise<boolean> {
  let failed = false
  for (const name of checks) if (!(await runScript(name))) failed = true
  return failed
}

/** Runs a script of package.json and returns whether it succeeded. */
async function runScript(name: string): Promise<boolean> {
  const child = spawn('npm', ['run', '--silent', name], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close') as Promise<[number | null]>
  const [output, [code]] = await Promise.all([text(child.stdout), ended])
  console.log(code === 0 ? `✔ npm run ${name}` : `✖ npm run ${name}\n${output}`)
  return code === 0
}

async function runTests(): Promise<boolean> {
  const events = run({
    cwd: root,
    files: testFiles(),
    // One more than the number of cores, because some files wait for a disk, a page or a node.
    concurrency: availableParallelism() + 1,
    // Ends a file that hangs after 30 minutes. The tests of pages take two minutes, and up to eight
    // on a busy machine.
    timeout: 1_800_000,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  let failed = true
  const took: (readonly [file: string, seconds: number])[] = []
  const skipped = new Map<string, number>()
  events.on('test:pass', ({ skip, details }) => {
    if (!skip || details.type === 'suite') return
    const reason = skip === true ? 'no reason is given' : skip
    skipped.set(reason, (skipped.get(reason) ?? 0) + 1)
  })
  events.on('test:summary', ({ file, success, duration_ms }) => {
    if (file === undefined) failed = !success
    else took.push([relative(root, file), duration_ms / 1000])
  })
  await pipeline(events, failuresOnly, new Spec(), process.stdout, { end: false })
  console.log('longest files, in seconds:')
  for (const [file, seconds] of took.toSorted((a, b) => b[1] - a[1]).slice(0, 10))
    console.log(`${seconds.toFixed(1).padStart(7)} ${file}`)
  if (skipped.size > 0) console.log('skipped tests, and why:')
  for (const [reason, count] of skipped)
    console.log(`${String(count).padStart(7)} ${reason}`)
  return failed
}

function testFiles(): string[] {
  const patterns = chosen.quick ? quick : ['tests/**/*.test.ts']
  const rank = (file: string) => {
    const place = first.indexOf(folderOf(file))
    return place === -1 ? first.length : place
  }
  const files = globSync(patterns, { cwd: root }).toSorted(
    (a, b) => rank(a) - rank(b) || (a < b ? -1 : 1),
  )
  const imports = new TestImports(root)
  const lacks = new Map(files.map((file) => [file, lackOf(imports.reachedBy(file))]))
  const able = files.filter((file) => lacks.get(file) === undefined)
  const pages = able.filter(isPage)
  const single = able.filter((file) => !isShort(file) && !isPage(file))
  const long = single.filter((file) => rank(file) < first.length)
  const others = single.filter((file) => !long.includes(file))
  const whole = (file: string) => join(root, file)
  // The shortest files run last, so that all cores are busy until the end.
  return [
    ...inGroups('pages', pages, Math.min(1, pages.length), sharedBrowser),
    ...long.map(whole),
    ...inGroups('short', able.filter(isShort)),
    ...missing.flatMap((lack, place) => {
      const own = files.filter((file) => lacks.get(file) === lack)
      return inGroups(`skipped-${place}`, own, Math.min(1, own.length), skipping(lack))
    }),
    ...others.map(whole),
  ]
}

/** The unmet requirement of a file, if any. It follows from the modules that the file imports. */
function lackOf(imported: ReadonlySet<string>): Missing | undefined {
  return missing.find(({ modules }) => modules.some((module) => imported.has(module)))
}

/**
 * The first lines of a generated file. They make Node skip the tests of all files that it imports.
 */
function skipping({ reason }: Missing): string[] {
  return [
    `import { skipTests } from '${hrefOf('tests/skipped-tests.ts')}'`,
    `skipTests(${JSON.stringify(reason)})`,
  ]
}

function hrefOf(file: string): string {
  return pathToFileURL(join(root, file)).href
}

function folderOf(file: string): string {
  return file.split(sep)[1]!
}

/**
 * Whether a file tests a page of the console. Such files share a browser, and therefore a process.
 */
function isPage(file: string): boolean {
  return file.endsWith('-page.test.ts')
}

/**
 * Whether a file may share a process: it must be in a `short` folder, and must not change its
 * process.
 */
function isShort(file: string): boolean {
  if (!short.some((folder) => file.startsWith(join('tests', folder, sep)))) return false
  if (isPage(file) || alone.includes(file)) return false
  return !/^process\./m.test(readFileSync(join(root, file), 'utf8'))
}

/**
 * Writes generated files that each import several test files. Each test file becomes a suite, so
 * that its hooks apply only to its own tests. Hooks in `beginning` apply to the whole process.
 */
function inGroups(
  name: string,
  files: readonly string[],
  count = Math.ceil(files.length / groupSize),
  beginning: readonly string[] = [],
): string[] {
  const folder = `${root}node_modules/.cache/stela/tests/${name}`
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return Array.from({ length: count }, (_, group) => {
    const own = files.filter((_file, at) => at % count === group)
    const suites = own.map(
      (file) => `describe('${file}', async () => { await import('${hrefOf(file)}') })`,
    )
    const path = join(folder, `group-${group}.test.mjs`)
    writeFileSync(path, [describeImport, ...beginning, ...suites].join('\n'))
    return path
  })
}

/**
 * Drops events of tests that start or pass. Other output of a file, such as seeds, is printed only
 * if one of its tests fails.
 */
async function* failuresOnly(events: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent> {
  const failed = new Set<string | undefined>([undefined])
  const kept = new Map<string | undefined, TestEvent[]>()
  for await (const event of events)
    switch (event.type) {
      case 'test:start':
      case 'test:pass':
        break
      case 'test:diagnostic':
      case 'test:stdout':
      case 'test:stderr': {
        const { file } = event.data
        if (failed.has(file)) yield event
        else kept.set(file, [...(kept.get(file) ?? []), event])
        break
      }
      case 'test:fail': {
        const { file } = event.data
        failed.add(file)
        yield* kept.get(file) ?? []
        kept.delete(file)
        yield event
        break
      }
      default:
        yield event
    }
}
