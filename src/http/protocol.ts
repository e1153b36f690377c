/**
 * A protocol that wraps commands: its messages come the way that commands come, so that
 * tokens, limits, shares and deadlines are the same, and each command in them is run, counted
 * and audited as if it had been sent by itself.
 */
import type { Principal } from '../auth/principal.ts'
import type { Deadline } from '../caller/caller.ts'
import type { CommandLevel, Reply } from '../commands/dispatch/define.ts'
import type { Log } from '../commands/dispatch/failures.ts'
import type { LongText } from '../json/long-text.ts'
import type { JsonObject, Value } from '../json/value.ts'
import type { TurnTaker } from './reply.ts'

export interface Protocol {
  /** What to answer to a body that has arrived. Never fails. */
  answer(call: WrappedCall): Promise<Answer>
}

export interface Answer {
  readonly status: number
  /** Empty: none is sent. */
  readonly body: LongText
  readonly headers?: Readonly<Record<string, string>>
}

/** What a command is sent to. */
export interface CommandPlace {
  readonly level: CommandLevel
  /** Empty where the level has none. */
  readonly keyspace: string
  readonly target: string
}

/** A request whose body is read by a protocol. */
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
   * Runs a command, one at a time. Never fails: what goes wrong is in the reply. `replySizeMax`
   * stands for the server's limit on the characters of documents.
   */
  run(
    place: CommandPlace,
    command: string,
    fields: JsonObject,
    replySizeMax?: number,
  ): Promise<Reply>
  /** Whether there is room for a reply of so many characters and bytes. */
  holdReply(length: number, size: number): boolean | Promise<boolean>
  /** The error for a reply that does not fit; counts it. */
  noRoomFor(what: 'reply'): Error
}
