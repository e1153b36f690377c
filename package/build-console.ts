/**
 * Part of `npm run build`: makes build/console/, the web console as the server sends it.
 *
 * Files are named by what they hold, so that browsers keep them for ever; index.html alone
 * keeps its name, and says which they are. All are packed here, once, instead of with every
 * request.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build, type Metafile, type Plugin } from 'esbuild'

const root = join(import.meta.dirname, '..')
const from = join(root, 'src/console')
const to = join(root, 'build/console')
/** A server that runs finds all of the old files, or all of the new ones. */
const outdir = `${to}-${process.pid}`

/** How src/console/index.html names what it starts with. */
const entryTag = '<script type="module" src="main.tsx"></script>'

/** Scripts of threads: new URL('./draw-worker.ts', import.meta.url). */
const workerUrl =
  /new URL\(\s*'(\.{1,2}\/[\w./-]+-worker\.ts)',\s*import\.meta\.url,?\s*\)/g

type Outputs = Metafile['outputs']

/** All that is written, by name. */
const files = new Set(['index.html'])
/** The names that workers have in the folder, by their sources. */
const workerNames = new Map<string, Promise<string>>()

/** Builds the scripts that sources name as workers, and names what they became instead. */
const workers: Plugin = {
  name: 'workers',
  setup(building) {
    building.onLoad({ filter: /[\\/]src[\\/]console[\\/].*\.tsx?$/ }, async ({ path }) => {
      const text = readFileSync(path, 'utf8')
      const names = new Map<string, string>()
      for (const [, file] of text.matchAll(workerUrl))
        names.set(file!, await buildWorker(join(dirname(path), file!)))
      const contents = text.replace(
        workerUrl,
        (_, file: string) => `new URL('./${names.get(file)!}', import.meta.url)`,
      )
      return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' }
    })
  },
}

mkdirSync(outdir, { recursive: true })
// What fails leaves nothing behind.
process.once('exit', () => rmSync(outdir, { recursive: true, force: true }))
const main = await bundle(join(from, 'main.tsx'))
writeFileSync(join(outdir, 'index.html'), pageOf(main))
const sizes = await Promise.all([...files].map(writePacked))
rmSync(to, { recursive: true, force: true })
renameSync(outdir, to)
const size = sizes.reduce((sum, each) => sum + each, 0)
console.log(`build/console: ${files.size} files, ${Math.ceil(size / 1000)} KB by gzip`)

interface Bundle {
  /** The file that its entry became. */
  readonly entry: string
  readonly outputs: Outputs
}

async function bundle(source: string): Promise<Bundle> {
  const { metafile } = await build({
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
    // Browsers of the last two years.
    target: ['chrome131', 'firefox132', 'safari18'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // All that it would take from there is above.
    tsconfigRaw: {},
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    plugins: [workers],
  })
  const { outputs } = metafile
  for (const file of Object.keys(outputs)) files.add(basename(file))
  const name = relative(root, source).replaceAll(sep, '/')
  const [entry] = Object.entries(outputs).find(([, made]) => made.entryPoint === name)!
  return { entry, outputs }
}

function buildWorker(source: string): Promise<string> {
  let name = workerNames.get(source)
  if (name === undefined) {
    name = bundle(source).then(({ entry }) => basename(entry))
    workerNames.set(source, name)
  }
  return name
}

/** Links are relative to /console, so that proxies may add a prefix. */
function pageOf({ entry, outputs }: Bundle): string {
  const { cssBundle } = outputs[entry]!
  const stray = Object.values(outputs).find(
    (output) =>
      output.entryPoint !== undefined && output !== outputs[entry] && output.cssBundle,
  )
  // Nobody would load the style of a page that is loaded later.
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

/** What the entry cannot start without, besides itself. */
function importedBy(entry: string, outputs: Outputs): string[] {
  const found = new Set([entry])
  for (const file of found)
    for (const { path, kind, external } of outputs[file]!.imports)
      if (kind === 'import-statement' && external !== true) found.add(path)
  found.delete(entry)
  return [...found]
}

/** Bytes of it by gzip. */
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
