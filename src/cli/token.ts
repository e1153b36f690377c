/** `stela token`: makes, lists and revokes tokens. */
import { Command, Option } from 'commander'
import { adminTokenOption, adminUrlOption } from './admin-options.ts'
import { CommandFailure, reportFailures } from './records/failure.ts'

import { connectTo } from './token/api-keeper.ts'
import { readExpiry } from './token/expiry.ts'
import { openFolder } from './token/folder-keeper.ts'
import type { NamedRole, TokenStore } from './token/token-keeper.ts'
import { roleName, tokenTable } from './token/token-table.ts'

interface WhereOptions {
  readonly adminUrl: string
  readonly token?: string
  readonly data?: string
}

interface CreateOptions extends WhereOptions {
  readonly role?: readonly string[]
  readonly description?: string
  readonly expires?: string
}

const defaultRole = 'Database Administrator'

export const tokenCommand = new Command('token')
  .description('Make, list and revoke tokens.')
  .helpOption('--help', 'show this help')
  .addHelpText(
    'after',
    `
Tokens are those of a running server, which is asked over its management port, or with
--data those of a server that is stopped. The latter needs no token, and so is the way
back in when the last one is lost.

Examples:
  export STELA_TOKEN=…                                        of an Organization Administrator
  TOKEN=$(stela token create --role 'RO User' --expires 30d)  one that only reads
  stela token list                                            which there are
  stela token revoke 3f9c0d…                                  end one, at once
  stela token create --data stela-data --role 'Organization Administrator'
`,
  )
  .addCommand(
    commandNamed('create', 'Make a token, and print it.')
      .addOption(
        new Option(
          '--role <name>',
          `what it may do, by the name or id of a role; can be repeated (default: "${defaultRole}")`,
        ).argParser<readonly string[] | undefined>((name, before) => [
          ...(before ?? []),
          name,
        ]),
      )
      .option('--description <text>', 'what it is for')
      .addOption(
        new Option(
          '--expires <when>',
          'when it ends: 30d, 12h or 2030-01-31T00:00:00Z',
        ).argParser((text) => readExpiry(text)),
      )
      .addHelpText(
        'after',
        `
The token alone is printed on standard output, and cannot be shown again. The exit status is
0, or 1 where there is no token.

Examples:
  TOKEN=$(stela token create)                            for an application
  stela token create --role 'RO User' --description 'dashboard'
  stela token create --role 'R/W User' --expires 12h
`,
      )
      .action((options: CreateOptions) =>
        run(options, (keeper) => createToken(keeper, options)),
      ),
  )
  .addCommand(
    commandNamed('list', 'List tokens. Their secrets are not kept and cannot be shown.')
      .option('--json', 'as JSON')
      .action((options: WhereOptions & { readonly json?: true }) =>
        run(options, (keeper) => listTokens(keeper, options.json === true)),
      ),
  )
  .addCommand(
    commandNamed('revoke', 'End tokens: the next request with one is refused.')
      .argument('<id...>', 'as the list has them, or as in Stela:<id>:…')
      .action((ids: readonly string[], options: WhereOptions) =>
        run(options, (keeper) => revokeTokens(keeper, ids)),
      ),
  )

function commandNamed(name: string, says: string): Command {
  return new Command(name)
    .description(says)
    .helpOption('--help', 'show this help')
    .addOption(adminUrlOption())
    .addOption(adminTokenOption('a token that may do this'))
    .option('--data <folder>', 'the data folder of a server that is stopped, instead')
}

function run(
  { adminUrl, token, data }: WhereOptions,
  work: (keeper: TokenStore) => Promise<void>,
): Promise<void> {
  return reportFailures(async () => {
    const keeper = data === undefined ? connectTo(adminUrl, token) : await openFolder(data)
    try {
      await work(keeper)
    } finally {
      await keeper.close()
    }
  })
}

async function createToken(keeper: TokenStore, options: CreateOptions): Promise<void> {
  const known = await keeper.roles()
  const wanted = (options.role ?? [defaultRole]).map((text) => findRole(text, known))
  const { id, token, roles, expiresAt } = await keeper.create({
    roles: wanted.map((role) => role.id),
    description: options.description,
    expiresAt: options.expires,
  })
  process.stdout.write(`${token}\n`)
  const names = roles.map((role) => roleName(role, known)).join(', ')
  const end = expiresAt === undefined ? 'It does not expire.' : `It expires ${expiresAt}.`
  process.stderr.write(`stela: made the token ${id} with ${names}. ${end}\n`)
}

function findRole(text: string, known: readonly NamedRole[]): NamedRole {
  const wanted = text.toLowerCase()
  const found = known.find(({ id, name }) => id === wanted || name.toLowerCase() === wanted)
  if (found !== undefined) return found
  const names = known.map((role) => roleName(role.id, known)).join(', ')
  throw new CommandFailure(`there is no role "${text}". There are: ${names}.`)
}

async function listTokens(keeper: TokenStore, asJson: boolean): Promise<void> {
  const [tokens, roles] = [await keeper.list(), await keeper.roles()]
  if (asJson) {
    const shown = tokens.map(({ id, createdAt, expiresAt, description, ...token }) => ({
      id,
      roles: token.roles.map((role) => ({ id: role, name: roleName(role, roles) })),
      createdAt,
      expiresAt,
      description,
    }))
    process.stdout.write(`${JSON.stringify(shown, undefined, 2)}\n`)
  } else if (tokens.length === 0) process.stderr.write('stela: there are no tokens.\n')
  else process.stdout.write(tokenTable(tokens, roles))
}

/** One that cannot be revoked does not keep the others. */
async function revokeTokens(keeper: TokenStore, ids: readonly string[]): Promise<void> {
  for (const text of ids) {
    const id = /^Stela:([^:]+):/.exec(text)?.[1] ?? text
    await reportFailures(async () => {
      await keeper.revoke(id)
      process.stderr.write(`stela: revoked the token ${id}.\n`)
    })
  }
}
