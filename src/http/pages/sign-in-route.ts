/**
 * POST /console/sign-in: exchanges the code of a sign-in link for a token.
 *
 * The link was printed on the terminal of the server, so only a browser on the same machine may use
 * it. A reverse proxy on this machine would make every client look local, so forwarded requests are
 * rejected. The code is in the fragment of the link, which browsers send to no server, and the page
 * sends it in the body.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { SignInCode, CodeRefusal } from '../../auth/sign-in-code.ts'
import type { Audit } from '../../auth/audit.ts'
import type { Lockout } from '../../auth/lockout.ts'
import { fixedLimits } from '../../limits.ts'
import { isTrustedOrigin } from '../origin.ts'

export interface SignInServices {
  readonly signInCode: SignInCode
  /** Counts wrong codes like invalid tokens. */
  readonly lockout: Lockout
  readonly audit: Audit
  readonly publicUrl: string | undefined
}

const path = '/console/sign-in'

const badBody = 'The body must be {"code": "<code>"}, as JSON.'

export function addSignInRoute(app: FastifyInstance, services: SignInServices): void {
  app.post(
    path,
    {
      bodyLimit: fixedLimits.signInBodySizeMax,
      errorHandler: (_error, _request, reply) => {
        reply.code(400).send(problem(badBody))
      },
    },
    async (request, reply) => {
      const answer = await redeem(request, services)
      reply.code(answer.status).header('Cache-Control', 'no-store')
      return reply.send('token' in answer ? { token: answer.token } : problem(answer.error))
    },
  )
}

type Answer =
  | { readonly status: 200; readonly token: string }
  | { readonly status: number; readonly error: string }

async function redeem(request: FastifyRequest, services: SignInServices): Promise<Answer> {
  const { signInCode, lockout, audit, publicUrl } = services
  const address = request.raw.socket.remoteAddress ?? ''
  const asked = { address, command: `POST ${path}` }
  if (!isTrustedOrigin(request.raw, { corsOrigins: undefined, publicUrl })) {
    audit.refused('not permitted', asked)
    return { status: 403, error: 'Only a page of this server may use a sign-in link.' }
  }
  if (!isLoopback(address) || isForwarded(request)) {
    audit.refused('not permitted', asked)
    return {
      status: 403,
      error:
        'A sign-in link works only in a browser on the machine of the server, without a ' +
        'proxy. Sign in with a token.',
    }
  }
  const code = codeIn(request.body)
  if (code === undefined) return { status: 400, error: badBody }
  const lockedSeconds = await lockout.lockedFor(address, '')
  if (lockedSeconds > 0) {
    audit.refused('locked out', asked)
    const error = `Too many invalid credentials. Try again in ${lockedSeconds} s.`
    return { status: 429, error }
  }
  const found = signInCode.redeem(code)
  if ('token' in found) return { status: 200, token: found.token }
  audit.refused(found.why === 'expired' ? 'expired token' : 'unknown token', asked)
  if (found.why === 'wrong') await lockout.noteBad(address)
  return { status: 403, error: messages[found.why] }
}

const messages: Readonly<Record<CodeRefusal, string>> = {
  wrong: 'The code of this sign-in link is wrong. Sign in with a token.',
  used: 'This sign-in link was used before. Restart the server, or sign in with a token.',
  expired: 'This sign-in link has expired. Restart the server, or sign in with a token.',
}

function problem(message: string): object {
  return { errors: [{ message }] }
}

function codeIn(body: unknown): string | undefined {
  const { code } = Object(body) as { readonly code?: unknown }
  return typeof code === 'string' ? code : undefined
}

function isLoopback(address: string): boolean {
  return /^(?:::ffff:)?127\.|^::1$/.test(address)
}

function isForwarded({ headers }: FastifyRequest): boolean {
  return ['forwarded', 'x-forwarded-for', 'x-real-ip'].some((name) => name in headers)
}
