/**
 * State that threads or servers must share in addition to the engine's data: limits of principals
 * and addresses, and turns of requests. This module selects the implementations. Other modules know
 * only the interfaces.
 */
import { LocalLockout } from './auth/local-lockout.ts'
import type { Lockout } from './auth/lockout.ts'
import type { DocumentTurns } from './collections/document-turns.ts'
import { LocalDocumentTurns } from './collections/local-document-turns.ts'
import { replyLittleMax } from './http/call-memory.ts'
import type { FairShare } from './http/fair-share.ts'
import { LocalFairShare } from './http/local-fair-share.ts'
import { LocalRateLimit } from './http/local-rate-limit.ts'
import type { RateLimit } from './http/rate-limit.ts'
import { bodyLittleMax } from './http/receive-body.ts'
import type { Config } from './settings/config.ts'

export interface SharedState {
  readonly lockout: Lockout
  readonly documentTurns: DocumentTurns
  /** Undefined: no rate limit. */
  readonly rateLimit: RateLimit | undefined
  /** Limits running commands; a command counts until its reply is sent. */
  readonly commandRoom: FairShare
  /** Limits the bytes of request bodies. */
  readonly bodyRoom: FairShare
  /** Limits the bytes of replies. */
  readonly replyRoom: FairShare
  /** Limits the bytes of parsed values of large bodies and large documents. */
  readonly valueRoom: FairShare
}

/** State in memory, for a single server process with one request thread. */
export function localState(config: Config): SharedState {
  return {
    lockout: new LocalLockout(config.badCredentialsMax),
    documentTurns: new LocalDocumentTurns(),
    rateLimit: config.rateLimit === 0 ? undefined : new LocalRateLimit(config.rateLimit),
    commandRoom: new LocalFairShare(config.commandsMax),
    bodyRoom: new LocalFairShare(config.bodyMemoryMax, { littleMax: bodyLittleMax }),
    replyRoom: new LocalFairShare(config.replyMemoryMax, { littleMax: replyLittleMax }),
    valueRoom: new LocalFairShare(config.valueMemoryMax),
  }
}
