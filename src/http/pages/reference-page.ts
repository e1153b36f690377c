/**
 * The page at /swagger-ui: the API's description for people, with a form to try commands.
 *
 * It is one file to the browser, put together here from three, and loads nothing but the
 * description: the policy that comes with it names its own script and style by their digests
 * and lets it talk to this server alone.
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
    // Its icon is written into it.
    'img-src data:',
  ])
  return new FixedContent('text/html; charset=utf-8', html, headers)
}

function readPart(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}
