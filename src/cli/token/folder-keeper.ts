/** Manages tokens in the data folder of a stopped server, which needs no token. */
import { EngineError } from '../../engine/errors.ts'
import type { OpenedAccess } from '../../server.ts'
import { CommandFailure } from '../records/failure.ts'
import type { TokenStore } from './token-keeper.ts'

export async function openFolder(dataDir: string): Promise<TokenStore> {
  const opened = await open(dataDir)
  const { access } = opened
  return {
    roles: () => Promise.resolve(access.roles),
    list: () => Promise.resolve(access.tokens),
    create: (wanted) => refused(access.createToken(wanted, undefined)),
    revoke: async (id) => {
      await refused(access.revokeToken(id, undefined))
    },
    close: () => opened.close(),
  }
}

async function open(dataDir: string): Promise<OpenedAccess> {
  const { openAccess } = await import('../../server.ts')
  try {
    return await openAccess(dataDir)
  } catch (error) {
    throw error instanceof EngineError ? new CommandFailure(sentence(error)) : error
  }
}

/** Awaits a change of the tokens. Converts an expected error to a CommandFailure. */
async function refused<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const isExpected =
      error instanceof EngineError || (error instanceof Error && 'kind' in error)
    throw isExpected ? new CommandFailure(sentence(error)) : error
  }
}

function sentence({ message }: Error): string {
  const text = message.charAt(0).toLowerCase() + message.slice(1)
  return text.endsWith('.') ? text : `${text}.`
}
