/**
 * Serves the web console at /console: one page and its files, as built by `npm run build`
 * (package/build-console.ts).
 *
 * Browsers revalidate the page on each visit. Its files have content hashes in their names, so
 * browsers cache them without revalidation.
 */
import type { FastifyInstance } from 'fastify'
import { readdir, readFile, stat } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname } from 'node:path'
import { FixedContent } from './fixed-content.ts'
import { addPage, allowOnly } from './page.ts'

const path = '/console'

/**
 * Folder of the built console. The relative path from this module is the same in a checkout and in
 * the package.
 */
const builtFolder = new URL('../../../build/console/', import.meta.url)

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Headers that let the page load files only from this server, and connect only to this server. */
const safely = allowOnly([
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "worker-src 'self'",
])

const forEver = { 'Cache-Control': 'public, max-age=31536000, immutable' }

export function addConsolePage(
  app: FastifyInstance,
  refuse: (request: IncomingMessage, response: ServerResponse) => void,
  folder = builtFolder,
): void {
  const files = new ConsoleFiles(folder)
  addPage(app, path, async () => (await files.findPage()) ?? unbuiltPage)
  app.get<{ Params: { file: string } }>(`${path}/:file`, async (request, reply) => {
    reply.hijack()
    const { file } = request.params
    const content = file === 'index.html' ? undefined : await files.find(file)
    if (content === undefined) refuse(request.raw, reply.raw)
    else content.answer(request.raw, reply.raw)
  })
}

/** The built files. Each is read on first use and kept in memory. A new build replaces them. */
class ConsoleFiles {
  #builtAt = 0
  readonly #known = new Map<string, FixedContent>()
  readonly #folder: URL

  constructor(folder: URL) {
    this.#folder = folder
  }

  async findPage(): Promise<FixedContent | undefined> {
    const page = await stat(new URL('index.html', this.#folder)).catch(() => undefined)
    const builtAt = page?.mtimeMs ?? 0
    if (builtAt !== this.#builtAt) this.#known.clear()
    this.#builtAt = builtAt
    return this.find('index.html')
  }

  async find(name: string): Promise<FixedContent | undefined> {
    const known = this.#known.get(name)
    // A name is served only if the folder's listing contains it: a path in the request could lead
    // outside of the folder.
    if (known !== undefined || !(await namesIn(this.#folder)).includes(name)) return known
    const contentType = contentTypes[extname(name)]
    if (contentType === undefined) return undefined
    const read = (file: string) => readFile(new URL(file, this.#folder))
    const headers = name === 'index.html' ? safely : { ...safely, ...forEver }
    const packed = { br: await read(`${name}.br`), gzip: await read(`${name}.gz`) }
    const content = new FixedContent(contentType, await read(name), headers, packed)
    this.#known.set(name, content)
    return content
  }
}

function namesIn(place: URL): Promise<readonly string[]> {
  return readdir(place).catch(() => [])
}

/** The page that is served from a checkout in which the console was not built. */
const unbuiltPage = new FixedContent(
  contentTypes['.html']!,
  '<!doctype html><html lang="en"><title>Stela</title><h1>The console is not ' +
    'built</h1><p>Run <code>npm run build</code> in the folder of the server, then ' +
    'reload this page.</html>',
  safely,
)
