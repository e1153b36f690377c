/** Common parts of all pages: registration, and a content security policy. */
import type { FastifyInstance } from 'fastify'
import { hash } from 'node:crypto'
import type { FixedContent } from './fixed-content.ts'

/**
 * Serves a page at the path. Links in the page are relative, so that they work behind proxies that
 * add a prefix.
 */
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

/** Headers with a content security policy that permits only the given sources. */
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

/** The source expression of the policy for an inline script or style: its hash. */
export function sourceOf(text: string): string {
  return `'sha256-${hash('sha256', text, 'base64')}'`
}
