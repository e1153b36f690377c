/**
 * `npm run build:package`: builds dist/ for the npm package and for a checkout. The package
 * contains JavaScript, because Node does not strip types from files under node_modules. Bundling
 * several hundred files into a few divides the load time by three. Dependencies are not bundled.
 * With --if-stale, builds only if the sources have changed since the last build, so that a server
 * that runs from dist/ keeps its files.
 */
import { cpSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative, sep } from 'node:path'
import { build, type BuildOptions, type Plugin } from 'esbuild'
import ts from 'typescript'
import { isCurrent, sourceState, writeState } from './source-state.js'

const root = join(import.meta.dirname, '..')
const from = join(root, 'src')
const dist = join(root, 'dist')
/** Temporary output folder, which replaces dist/ at the end, so that no process finds half a build. */
const to = `${dist}-${process.pid}`

/**
 * The module behind `import … from 'stela'`. It has type declarations, and a CommonJS form for
 * `require`.
 */
const entry = join(from, 'start-stela.ts')

/** The module that dist/main.js loads. */
const program = 'program'

const shared: BuildOptions = {
  bundle: true,
  packages: 'external',
  platform: 'node',
  target: 'node24',
  outdir: to,
  logLevel: 'warning',
}

/**
 * Replaces import.meta.url by the URL that the source file would have in dist/, because the code
 * locates pages and other files relative to its source file.
 */
const locations: Plugin = {
  name: 'locations',
  setup(building) {
    building.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const place = relative(from, path).replaceAll(sep, '/').replace(/\.ts$/, '.js')
      const url = `new URL('./${place}', import.meta.url).href`
      const text = readFileSync(path, 'utf8').replaceAll('import.meta.url', url)
      return { contents: text, loader: 'ts' }
    })
  },
}

if (!process.argv.includes('--if-stale') || !isCurrent()) await buildAll()

async function buildAll(): Promise<void> {
  // Read first: if a source changes during the build, the result is stale.
  const sources = sourceState()
  // Removes the partial folder if the build fails.
  process.once('exit', () => rmSync(to, { recursive: true, force: true }))
  await Promise.all([buildModules(), buildScript()])
  writeProgram()
  writeTypes()
  copyPages()
  writeState(to, sources)
  rmSync(dist, { recursive: true, force: true })
  renameSync(to, dist)
}

function buildModules() {
  return build({
    ...shared,
    entryPoints: [
      { in: join(from, 'main.ts'), out: program },
      ...[entry, join(from, 'test-server.ts'), ...siblings()].map((file) => ({
        in: file,
        out: basename(file, '.ts'),
      })),
    ],
    // All modules are in one folder, because src/runtime/sibling-module.ts expects it.
    chunkNames: '[name]-[hash]',
    format: 'esm',
    splitting: true,
    sourcemap: true,
    plugins: [locations],
  })
}

/**
 * Builds the CommonJS form, for test runners that do not load ES modules by default, such as Jest.
 */
function buildScript() {
  return build({
    ...shared,
    entryPoints: [entry],
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    define: { 'import.meta.filename': '__filename' },
  })
}

/** Files that are loaded by name, which imports do not reveal. */
function siblings(): string[] {
  const named = sources().flatMap((file) =>
    Array.from(
      readFileSync(file, 'utf8').matchAll(/siblingModule\('([\w-]+)'/g),
      ([, name]) => join(file, '..', `${name!}.ts`),
    ),
  )
  const names = named.map((file) => basename(file))
  if (new Set(names).size < names.length)
    throw new Error(`Two files that are loaded by name have the same: ${names.join()}`)
  return named
}

function sources(): string[] {
  return globSync('**/*.ts', { cwd: from }).map((file) => join(from, file))
}

/**
 * Writes dist/main.js, which checks the version of Node before it loads the program: older
 * releases cannot parse the program and would report a syntax error.
 */
function writeProgram(): void {
  const text = `#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error(\`stela needs Node 24 or later, and this is \${process.versions.node}.\`)
  process.exit(1)
}
await import('./${program}.js')
`
  writeFileSync(join(to, 'main.js'), text, { mode: 0o755 })
}

function writeTypes(): void {
  const { outputText } = ts.transpileDeclaration(readFileSync(entry, 'utf8'), {
    fileName: entry,
    compilerOptions: { target: ts.ScriptTarget.ESNext, stripInternal: true },
  })
  const name = join(to, basename(entry, '.ts'))
  for (const ending of ['.d.ts', '.d.cts']) writeFileSync(name + ending, outputText)
}

/** Copies files other than TypeScript: pages, styles and scripts. */
function copyPages(): void {
  const options = { cwd: from, exclude: ['console/**'] }
  for (const file of globSync('**/*.{html,css,js,svg,json}', options))
    cpSync(join(from, file), join(to, file))
}
