/**
 * `npm run build:package`: makes dist/ for the package that people install. Node strips no
 * types from files under node_modules, so it holds JavaScript. Our several hundred files
 * become a few, which load in half of the time; packages of others stay what they are.
 */
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative, sep } from 'node:path'
import { build, type BuildOptions, type Plugin } from 'esbuild'
import ts from 'typescript'

const root = join(import.meta.dirname, '..')
const from = join(root, 'src')
const to = join(root, 'dist')

/** What `import … from 'stela'` is: it has types, and a form for those who `require`. */
const entry = join(from, 'start-stela.ts')

/** What dist/main.js loads. */
const program = 'program'

const shared: BuildOptions = {
  bundle: true,
  packages: 'external',
  platform: 'node',
  target: 'node24',
  outdir: to,
  logLevel: 'warning',
}

/** Pages and the like are found from where the source lies; dist/ has them in such places. */
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

rmSync(to, { recursive: true, force: true })
await Promise.all([buildModules(), buildScript()])
writeProgram()
writeTypes()
copyPages()

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
    // All in one folder, where src/runtime/sibling-module.ts looks.
    chunkNames: '[name]-[hash]',
    format: 'esm',
    splitting: true,
    sourcemap: true,
    plugins: [locations],
  })
}

/** Test runners that load tests as CommonJS, as Jest does by default, load no modules. */
function buildScript() {
  return build({
    ...shared,
    entryPoints: [entry],
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    define: { 'import.meta.filename': '__filename' },
  })
}

/** The files that are loaded by name: nobody imports them. */
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

/** Older releases of Node cannot even load it, and would say so in their own words. */
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

/** Whatever else is among the sources: pages, their styles and scripts. */
function copyPages(): void {
  const options = { cwd: from, exclude: ['console/**'] }
  for (const file of globSync('**/*.{html,css,js,svg,json}', options))
    cpSync(join(from, file), join(to, file))
}
