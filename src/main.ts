#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
/** The command line: registers all commands. */
import { readFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { backupCommand } from './cli/backup.ts'
import { check } from './cli/check.ts'
import { completion } from './cli/completion.ts'
import { demo } from './cli/demo.ts'
import { exportCommand } from './cli/export.ts'
import { importCommand } from './cli/import.ts'
import { mcpCommand } from './cli/mcp.ts'
import { migrateCommand } from './cli/migrate.ts'
import { repair } from './cli/repair.ts'
import { restore } from './cli/restore.ts'
import { serve } from './cli/serve.ts'
import { tokenCommand } from './cli/token.ts'

// The cache is beside the packages, so that only users who can change the code can write to it.
// Most modules are loaded after this call. They are compiled only at the first start.
const compiled = fileURLToPath(new URL('../node_modules/.cache/stela', import.meta.url))
enableCompileCache(compiled)
// Worker threads read this variable. Without it, each thread would compile its modules again.
process.env['NODE_COMPILE_CACHE'] ??= compiled

const { version } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as { version: string }

const program = new Command('stela')
  .description(
    'A document and table database with vector, lexical and hybrid search. Speaks the Data API.',
  )
  .version(version, '--version', 'show the version')
  .helpOption('--help', 'show this help')
  .addCommand(serve)
  .addCommand(demo)
  .addCommand(mcpCommand)
  .addCommand(check)
  .addCommand(exportCommand)
  .addCommand(importCommand)
  .addCommand(backupCommand)
  .addCommand(restore)
  .addCommand(migrateCommand)
  .addCommand(repair)
  .addCommand(tokenCommand)
  .addCommand(completion)
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

await program.parseAsync()
