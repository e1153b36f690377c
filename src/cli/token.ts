/** `stela token`: creates, lists and revokes tokens. */
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
  .description('Create, list and revoke tokens.')
  .helpOption('--help', 'show this help')
  .addHelpText(
    'after',
    `
Manages tokens of a running server through its management API or, with --data, of a stopped
server. With --data no token is needed: use it when you have lost the last administrator token.

Examples:
  export STELA_TOKEN=…                                        an administrator token
  TOKEN=$(stela token create --role 'RO User' --expires 30d)  a read-only token
  stela token list                                            list tokens
  stela token revoke 3f9c0d…                                  revoke a token immediately
  stela token create --data stela-data --role 'Organization Administrator'
`,
  )
  .addCommand(
    commandNamed('create', 'Create a token and print it.')
      .addOption(
        new Option(
          '--role <name>',
          `name or id of a role; can be repeated (default: "${defaultRole}")`,
        ).argParser<readonly string[] | undefined>((name, before) => [
          ...(before ?? []),
          name,
        ]),
      )
      .option('--description <text>', 'purpose of the token')
      .addOption(
        new Option(
          '--expires <when>',
          'expiry: 30d, 12h or 2030-01-31T00:00:00Z',
        ).argParser((text) => readExpiry(text)),
      )
      .addHelpText(
        'after',
        `
Standard output contains only the token, which cannot be shown again. The exit status is 0 when the
token was created, and 1 when not.

Examples:
  TOKEN=$(stela token create)                            a token for an application
  stela token create --role 'RO User' --description 'dashboard'
  stela token create --role 'R/W User' --expires 12h
`,
      )
      .action((options: CreateOptions) =>
        run(options, (keeper) => createToken(keeper, options)),
      ),
  )
  .addCommand(
    commandNamed('list', 'List tokens without their secrets, which are not stored.')
      .option('--json', 'print JSON')
      .action((options: WhereOptions & { readonly json?: true }) =>
        run(options, (keeper) => listTokens(keeper, options.json === true)),
      ),
  )
  .addCommand(
    commandNamed('revoke', 'Revoke tokens immediately.')
      .argument(
        '<id...>',
        'ids as printed by `stela token list`, or whole tokens (Stela:<id>:…)',
      )
      .action((ids: readonly string[], options: WhereOptions) =>
        run(options, (keeper) => revokeTokens(keeper, ids)),
      ),
  )

function commandNamed(name: string, says: string): Command {
  return new Command(name)
    .description(says)
    .helpOption('--help', 'show this help')
    .addOption(adminUrlOption())
    .addOption(adminTokenOption('token with the permission to manage tokens'))
    .option('--data <folder>', 'data folder of a stopped server, instead of --admin-url')
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
  process.stderr.write(`stela: created token ${id}. Roles: ${names}. ${end}\n`)
}

function findRole(text: string, known: readonly NamedRole[]): NamedRole {
  const wanted = text.toLowerCase()
  const found = known.find(({ id, name }) => id === wanted || name.toLowerCase() === wanted)
  if (found !== undefined) return found
  const names = known.map((role) => roleName(role.id, known)).join(', ')
  throw new CommandFailure(`there is no role "${text}". Roles: ${names}.`)
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

/** Revokes the tokens. If one token cannot be revoked, continues with the next token. */
async function revokeTokens(keeper: TokenStore, ids: readonly string[]): Promise<void> {
  for (const text of ids) {
    const id = /^Stela:([^:]+):/.exec(text)?.[1] ?? text
    await reportFailures(async () => {
      await keeper.revoke(id)
      process.stderr.write(`stela: revoked token ${id}.\n`)
    })
  }
}
