/**
 * What several threads or servers that answer the same clients would have to agree on, beside
 * what their engine keeps: limits of principals and addresses, and turns among requests.
 * Here it is chosen who keeps it; all who use it know the interfaces alone.
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
  /** Undefined: anybody may be as fast as they like. */
  readonly rateLimit: RateLimit | undefined
  /** Commands at work, until their replies are out. */
  readonly commandRoom: FairShare
  /** Bytes of bodies. */
  readonly bodyRoom: FairShare
  /** Bytes of replies. */
  readonly replyRoom: FairShare
  /** Bytes of the values that large bodies and documents are parsed into. */
  readonly valueRoom: FairShare
}

/** For one server with one thread that answers: nothing has to be waited for. */
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
