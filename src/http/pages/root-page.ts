/**
 * The page at the root path, with links to other pages. If the console is served, browsers are
 * redirected to it.
 */
import type { FastifyInstance } from 'fastify'
import { readFileSync } from 'node:fs'
import { readVersion } from '../metrics.ts'
import { FixedContent } from './fixed-content.ts'
import { allowOnly, sourceOf } from './page.ts'

export function addRootPage(app: FastifyInstance, hasConsole: boolean): void {
  let page: FixedContent | undefined
  let summary: FixedContent | undefined
  app.get('/', (request, reply) => {
    reply.hijack()
    const isBrowser = request.headers.accept?.includes('text/html') === true
    if (isBrowser && hasConsole) {
      const onward = { ...vary, Location: 'console', 'Content-Length': 0 }
      reply.raw.writeHead(302, onward).end()
      return
    }
    const content = isBrowser ? (page ??= readPage()) : (summary ??= makeSummary())
    content.answer(request.raw, reply.raw)
  })
}

/**
 * Summary for clients that are not browsers. Paths are relative, because a proxy may add a
 * prefix.
 */
function makeSummary(): FixedContent {
  const summary = {
    name: 'Stela',
    version: readVersion(),
    commands: 'v1',
    health: 'stargate/health',
    reference: 'swagger-ui',
    openapi: 'api/json/openapi',
  }
  return new FixedContent('application/json', JSON.stringify(summary), vary)
}

const vary = { Vary: 'Accept' }

function readPage(): FixedContent {
  const html = readFileSync(new URL('root.html', import.meta.url), 'utf8').replace(
    '{version}',
    readVersion(),
  )
  const [, style = ''] = /<style>(.*?)<\/style>/s.exec(html) ?? []
  const headers = allowOnly([`style-src ${sourceOf(style)}`, 'img-src data:'])
  return new FixedContent('text/html; charset=utf-8', html, { ...vary, ...headers })
}
