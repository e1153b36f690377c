/** What all pages have in common: a path, and a policy that keeps them to themselves. */
import type { FastifyInstance } from 'fastify'
import { hash } from 'node:crypto'
import type { FixedContent } from './fixed-content.ts'

/** Its links are relative, so that it works behind proxies that add a prefix. */
export function addPage(
  app: FastifyInstance,
  path: string,
  find: () => FixedContent | Promise<FixedContent>,
): void {
  app.get(path, async ({ raw }, reply) => {
    reply.hijack()
    if (raw.url!.split('?', 1)[0]!.endsWith('/')) {
      reply.raw.writeHead(308, { Location: `..${path}`, 'Content-Length': 0 })
      reply.raw.end()
    } else (await find()).answer(raw, reply.raw)
  })
}

/** Headers by which a page may load and send what is allowed here, and nothing else. */
export function allowOnly(allowed: readonly string[]): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    ...allowed,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    'Content-Security-Policy': policy.join('; '),
    'Referrer-Policy': 'no-referrer',
  }
}

/** How a policy names a script or style that is written into the page. */
export function sourceOf(text: string): string {
  return `'sha256-${hash('sha256', text, 'base64')}'`
}
