/**
 * Part of `npm run build`: bundles the web console into build/console/.
 *
 * The file names contain a hash of the content, so that browsers can cache the files forever. Only
 * index.html has a fixed name and refers to the other files. The build compresses all files once,
 * so that the server does not compress them for each request.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build, type BuildOptions, type Metafile, type Plugin } from 'esbuild'

const root = join(import.meta.dirname, '..')
const from = join(root, 'src/console')
const to = join(root, 'build/console')
/**
 * Temporary output folder. The build renames it at the end, so that a running server never finds
 * old and new files together.
 */
const outdir = `${to}-${process.pid}`

/** The script tag of src/console/index.html, which the build replaces. */
const entryTag = '<script type="module" src="main.tsx"></script>'

/** Matches worker scripts: new URL('./draw-worker.ts', import.meta.url). */
const workerUrl =
  /new URL\(\s*'(\.{1,2}\/[\w./-]+-worker\.ts)',\s*import\.meta\.url,?\s*\)/g

type Outputs = Metafile['outputs']

/** Names of all written files. */
const files = new Set(['index.html'])
/** Empty until the trial has ended. */
const trial: { shared?: Shared } = {}
/** Output names of worker scripts, by path of the source. */
const workerNames = new Map<string, Promise<string>>()

/** Bundles worker scripts and replaces their names in the sources. */
const workers: Plugin = {
  name: 'workers',
  setup(building) {
    building.onLoad({ filter: /[\\/]src[\\/]console[\\/].*\.tsx?$/ }, async ({ path }) => {
      const text = readFileSync(path, 'utf8')
      const names = new Map<string, string>()
      for (const [, file] of text.matchAll(workerUrl))
        names.set(file!, await buildWorker(join(dirname(path), file!)))
      const groups = trial.shared?.lazy.has(path) === true ? trial.shared.groups.keys() : []
      const imports = Array.from(groups, (group) => `import 'shared:${group}'\n`)
      const code = text.replace(
        workerUrl,
        (_, file: string) => `new URL('./${names.get(file)!}', import.meta.url)`,
      )
      const contents = imports.join('') + code
      return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' }
    })
  },
}

/** Lets each lazy module import all shared modules. */
const groupShared: Plugin = {
  name: 'shared modules',
  setup(building) {
    building.onResolve({ filter: /^shared:/ }, ({ path }) => ({
      path,
      namespace: 'shared',
    }))
    building.onLoad({ filter: /^shared:/, namespace: 'shared' }, ({ path }) => ({
      contents: trial
        .shared!.groups[Number(path.slice('shared:'.length))]!.map(
          (file) => `import ${JSON.stringify(file)}`,
        )
        .join('\n'),
      resolveDir: root,
    }))
  },
}

mkdirSync(outdir, { recursive: true })
trial.shared = await findShared(join(from, 'main.tsx'))
// Removes the partial folder if the build fails.
process.once('exit', () => rmSync(outdir, { recursive: true, force: true }))
const main = await bundle(join(from, 'main.tsx'))
writeFileSync(join(outdir, 'index.html'), pageOf(main))
const sizes = await Promise.all([...files].map(writePacked))
rmSync(to, { recursive: true, force: true })
renameSync(outdir, to)
const size = sizes.reduce((sum, each) => sum + each, 0)
console.log(`build/console: ${files.size} files, ${Math.ceil(size / 1000)} KB by gzip`)

interface Bundle {
  /** The output file of the entry. */
  readonly entry: string
  readonly outputs: Outputs
}

/** Modules that the bundler would otherwise spread over many small files. */
interface Shared {
  /** Paths of the modules that are loaded on first use. */
  readonly lazy: ReadonlySet<string>
  /** Paths of modules that the entry needs, and of modules that several lazy modules need. */
  readonly groups: readonly (readonly string[])[]
}

/**
 * Finds the shared modules by a trial. The bundler makes a file for each set of modules that is
 * needed by the same lazy modules, which are dozens of requests. If all lazy modules import a group,
 * it becomes one file.
 */
async function findShared(source: string): Promise<Shared> {
  const { metafile } = await build({ ...optionsOf(source), write: false })
  const { outputs } = metafile!
  const entry = entryIn(outputs, source)
  const first = new Set([entry, ...importedBy(entry, outputs)])
  const modulesOf = (isWanted: (file: string) => boolean) =>
    Object.entries(outputs)
      .filter(([file]) => isWanted(file))
      .flatMap(([, { inputs }]) => Object.keys(inputs))
      .filter((input) => !input.endsWith('.css'))
      .map((input) => resolve(root, input))
  const lazy = Object.entries(outputs).flatMap(([file, { entryPoint }]) =>
    entryPoint === undefined || file === entry ? [] : [resolve(root, entryPoint)],
  )
  return {
    lazy: new Set(lazy),
    groups: [
      modulesOf((file) => first.has(file) && file !== entry),
      modulesOf((file) => !first.has(file) && outputs[file]!.entryPoint === undefined),
    ],
  }
}

function entryIn(outputs: Outputs, source: string): string {
  const name = relative(root, source).replaceAll(sep, '/')
  return Object.entries(outputs).find(([, made]) => made.entryPoint === name)![0]
}

function optionsOf(source: string): BuildOptions {
  return {
    absWorkingDir: root,
    entryPoints: [source],
    outdir,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    format: 'esm',
    splitting: true,
    minify: true,
    // Versions of autumn 2024. The console supports browsers of the last two years.
    target: ['chrome131', 'firefox132', 'safari18'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // Ignores tsconfig.json, because the options above replace it.
    tsconfigRaw: {},
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    plugins: [workers],
  }
}

async function bundle(source: string): Promise<Bundle> {
  const plugins = [workers, groupShared]
  const { metafile } = await build({ ...optionsOf(source), plugins })
  const { outputs } = metafile!
  for (const file of Object.keys(outputs)) files.add(basename(file))
  return { entry: entryIn(outputs, source), outputs }
}

function buildWorker(source: string): Promise<string> {
  let name = workerNames.get(source)
  if (name === undefined) {
    name = bundle(source).then(({ entry }) => basename(entry))
    workerNames.set(source, name)
  }
  return name
}

/**
 * The text of index.html. Its links are relative to /console, so that a proxy can add a prefix to
 * the path.
 */
function pageOf({ entry, outputs }: Bundle): string {
  const { cssBundle } = outputs[entry]!
  const stray = Object.values(outputs).find(
    (output) =>
      output.entryPoint !== undefined && output !== outputs[entry] && output.cssBundle,
  )
  // A style sheet of a lazily loaded module would be missing, because the page links only the style
  // sheet of the entry.
  if (stray !== undefined)
    throw new Error(`${stray.entryPoint!} imports a style: import it in src/console/styles`)
  const tags = [
    ...(cssBundle === undefined
      ? []
      : [`<link rel="stylesheet" href="${link(cssBundle)}" />`]),
    `<script type="module" src="${link(entry)}"></script>`,
    ...importedBy(entry, outputs).map(
      (file) => `<link rel="modulepreload" href="${link(file)}" />`,
    ),
  ]
  const page = readFileSync(join(from, 'index.html'), 'utf8')
  if (!page.includes(entryTag)) throw new Error(`src/console/index.html has no ${entryTag}`)
  return page.replace(entryTag, () => tags.join('\n    '))
}

function link(file: string): string {
  return `console/${basename(file)}`
}

/** Files that the entry imports statically, directly or not. */
function importedBy(entry: string, outputs: Outputs): string[] {
  const found = new Set([entry])
  for (const file of found)
    for (const { path, kind, external } of outputs[file]!.imports)
      if (kind === 'import-statement' && external !== true) found.add(path)
  found.delete(entry)
  return [...found]
}

/** Writes the compressed forms of a file. Returns the size of the gzip file in bytes. */
async function writePacked(name: string): Promise<number> {
  const file = join(outdir, name)
  const bytes = readFileSync(file)
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  const [zipped, brotli] = await Promise.all([
    promisify(gzip)(bytes, { level: 9 }),
    promisify(brotliCompress)(bytes, { params }),
  ])
  writeFileSync(`${file}.gz`, zipped)
  writeFileSync(`${file}.br`, brotli)
  return zipped.length
}
