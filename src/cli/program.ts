/** The command line: registers all commands and runs the one that is given. */
import { readFileSync } from 'node:fs'
import { Command } from 'commander'

/** Loads a command, by name, in the order of --help. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.ts')).serve,
  demo: async () => (await import('./demo.ts')).demo,
  mcp: async () => (await import('./mcp.ts')).mcpCommand,
  check: async () => (await import('./check.ts')).check,
  export: async () => (await import('./export.ts')).exportCommand,
  import: async () => (await import('./import.ts')).importCommand,
  embed: async () => (await import('./embed.ts')).embedCommand,
  backup: async () => (await import('./backup.ts')).backupCommand,
  restore: async () => (await import('./restore.ts')).restore,
  migrate: async () => (await import('./migrate.ts')).migrateCommand,
  repair: async () => (await import('./repair.ts')).repair,
  token: async () => (await import('./token.ts')).tokenCommand,
  completion: async () => (await import('./completion.ts')).completion,
}

const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string }

const program = new Command('stela')
  .description(
    'A document and table database with vector, lexical and hybrid search. Speaks the Data API.',
  )
  .version(version, '--version', 'show the version')
  .helpOption('--help', 'show this help')
  .addHelpText(
    'after',
    `
Examples:
  stela serve          start a server on http://127.0.0.1:8181
  stela serve --help   list all settings
  stela demo           start a server with sample data
  stela mcp --stdio    serve the Model Context Protocol to an assistant
  stela check          check the data folder of a stopped server for damage
  stela export --help  export a collection or table to a file
  stela import --help  import a file into a collection or table
  stela embed --help   make documents searchable by the text of a field
  stela backup --help  back up a running server
  stela restore DIR    restore a backup into a new data folder
  stela migrate --help move all data into a cluster, or back
  stela repair --help  rebuild a damaged catalog, or the term index of a cluster
  stela token --help   create, list and revoke tokens
  stela completion bash  print a shell completion script
`,
  )

// Empty variables count as unset: Compose files and unit files pass empty values for unset
// variables.
for (const name of Object.keys(process.env))
  if (name.startsWith('STELA_') && process.env[name] === '')
    Reflect.deleteProperty(process.env, name)

for (const load of commandsFor(process.argv[2])) program.addCommand(await load())

await program.parseAsync()

/**
 * The commands that the first argument needs. A command that is not run is not loaded, because
 * loading all commands takes a fifth of the server's start time. Help, completion and messages
 * about unknown commands need all of them.
 */
function commandsFor(first: string | undefined): readonly (() => Promise<Command>)[] {
  if (first === '--version') return []
  const named = Object.entries(commands).find(([name]) => name === first)
  return named === undefined || first === 'completion'
    ? Object.values(commands)
    : [named[1]]
}
