/**
 * A protocol whose messages contain commands. Messages are received like commands, so the same
 * tokens, limits, shares and deadlines apply. Each contained command is run, counted and audited as
 * if the client had sent it by itself.
 */
import type { Principal } from '../auth/principal.ts'
import type { Deadline } from '../caller/caller.ts'
import type { CommandLevel, Reply } from '../commands/dispatch/define.ts'
import type { Log } from '../commands/dispatch/failures.ts'
import type { LongText } from '../json/long-text.ts'
import type { JsonObject, Value } from '../json/value.ts'
import type { TurnTaker } from './reply.ts'

export interface Protocol {
  /** The reply to a message. Never rejects. */
  answer(call: WrappedCall): Promise<Answer>
}

export interface Answer {
  readonly status: number
  /** Empty if the response has no body. */
  readonly body: LongText
  readonly headers?: Readonly<Record<string, string>>
}

/** The level and the names of the path to which a command is sent. */
export interface CommandPlace {
  readonly level: CommandLevel
  /** Empty if the path has no keyspace. */
  readonly keyspace: string
  readonly target: string
}

/** A request whose body the protocol parses. */
export interface WrappedCall extends Deadline, TurnTaker {
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly requestId: string
  readonly principal: Principal
  readonly databaseId: string
  readonly log: Log
  /** Throws an ApiError when the body is not JSON. */
  parseBody(): Value | Promise<Value>
  /**
   * Runs a command; commands of one call run one at a time. Never rejects: failures become
   * errors of the reply. `replySizeMax` limits the characters of documents in the reply; the
   * default is the limit of the server.
   */
  run(
    place: CommandPlace,
    command: string,
    fields: JsonObject,
    replySizeMax?: number,
  ): Promise<Reply>
  /**
   * Reserves memory for a reply of `length` characters and `size` bytes; false: not available.
   */
  holdReply(length: number, size: number): boolean | Promise<boolean>
  /** The error for a reply that could not get memory; counted in metrics. */
  noRoomFor(what: 'reply'): Error
}
