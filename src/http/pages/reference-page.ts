/**
 * The page at /swagger-ui: the API's description for people, with a form to try commands.
 *
 * It is one file to the browser, put together here from three, and loads nothing but the
 * description: the policy that comes with it names its own script and style by their digests
 * and lets it talk to this server alone.
 */
import type { FastifyInstance } from 'fastify'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { FixedContent } from './fixed-content.ts'

const path = '/swagger-ui'

export function addReferencePage(app: FastifyInstance): void {
  let content: FixedContent | undefined
  app.get(path, (request, reply) => {
    reply.hijack()
    const { raw } = request
    // Links of the page are relative, so that it works behind proxies that add a prefix.
    if (raw.url!.split('?', 1)[0]!.endsWith('/')) {
      reply.raw.writeHead(308, { Location: '../swagger-ui', 'Content-Length': 0 })
      reply.raw.end()
      return
    }
    content ??= readPage()
    content.answer(raw, reply.raw)
  })
}

function readPage(): FixedContent {
  const style = readPart('reference.css')
  const script = readPart('reference.js')
  const html = readPart('reference.html')
    .replace(
      '<link rel="stylesheet" href="reference.css" />',
      () => `<style>${style}</style>`,
    )
    .replace('<script src="reference.js"></script>', () => `<script>${script}</script>`)
  const policy = [
    "default-src 'none'",
    `style-src '${digestOf(style)}'`,
    `script-src '${digestOf(script)}'`,
    "connect-src 'self'",
    // Its icon is written into it.
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  return new FixedContent('text/html; charset=utf-8', html, {
    'Content-Security-Policy': policy.join('; '),
    'Referrer-Policy': 'no-referrer',
  })
}

function readPart(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}

function digestOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
