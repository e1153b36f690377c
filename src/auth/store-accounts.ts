/** Accounts of the cluster, which clients can use in addition to the tokens of this server. */
import type { Engine } from '../engine/contract.ts'
import type { Access, Holder } from './access.ts'
import type { TokenKeeper } from './authenticator.ts'
import { accountOf } from './tokens.ts'

/**
 * Finds tokens of this server and, if the engine uses a cluster, accounts of the cluster. The
 * cluster checks the permissions of its accounts.
 */
export function tokensOf(access: Access, engine: Engine): TokenKeeper {
  if (engine.knowsAccount === undefined) return access
  return {
    find: (digest, token) => access.find(digest) ?? findAccount(token, access, engine),
  }
}

async function findAccount(
  token: string,
  access: Access,
  engine: Engine,
): Promise<Holder | undefined> {
  const account = accountOf(token)
  if (account === undefined || !(await engine.knowsAccount!(account))) return undefined
  const principal = access.principalOfStore(account.name)
  return { principal, expiresAtMs: Infinity, isRevoked: false }
}
