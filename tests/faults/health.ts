import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'

export interface Health {
  readonly http: number
  readonly status: 'UP' | 'DOWN'
  readonly checks: readonly {
    readonly name: string
    readonly status: 'UP' | 'DOWN'
    readonly data?: { readonly problem: string }
  }[]
}

export async function healthOf(
  { url }: { readonly url: string },
  path: '' | '/live' | '/ready' = '/live',
): Promise<Health> {
  const response = await fetch(`${url}/stargate/health${path}`)
  return { ...((await response.json()) as Omit<Health, 'http'>), http: response.status }
}

/**
 * Polls the health check, as a monitor does, until it has this status. Returns the reason for the
 * status DOWN.
 */
export async function becomes(
  server: { readonly url: string },
  status: 'UP' | 'DOWN',
): Promise<string | undefined> {
  for (let tries = 0; tries < 300; tries++) {
    const health = await healthOf(server)
    if (health.status === status) {
      assert.equal(health.http, status === 'UP' ? 200 : 503)
      return health.checks.find((check) => check.status === 'DOWN')?.data?.problem
    }
    await delay(50)
  }
  return assert.fail(`the server does not become ${status}`)
}
