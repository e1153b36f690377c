/**
 * The page at /swagger-ui: the API description, with a form to send commands.
 *
 * The page is combined from an HTML file, a style and a script, and loads only the API description.
 * Its content security policy permits only its own script and style, by their hashes, and
 * connections to this server.
 */
import type { FastifyInstance } from 'fastify'
import { readFileSync } from 'node:fs'
import { FixedContent } from './fixed-content.ts'
import { addPage, allowOnly, sourceOf } from './page.ts'

export function addReferencePage(app: FastifyInstance): void {
  let content: FixedContent | undefined
  addPage(app, '/swagger-ui', () => (content ??= readPage()))
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
  const headers = allowOnly([
    `style-src ${sourceOf(style)}`,
    `script-src ${sourceOf(script)}`,
    "connect-src 'self'",
    // The icon is inlined in the page.
    'img-src data:',
  ])
  return new FixedContent('text/html; charset=utf-8', html, headers)
}

function readPart(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}
