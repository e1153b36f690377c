#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
/** The program: enables the cache of compiled modules, and loads the command line. */
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// The cache is beside the packages, so that only users who can change the code can write to it. If
// the folder is not writable, Node compiles the modules at each start. Modules that are loaded
// before this call are not cached, so this file imports nothing statically.
const compiled = fileURLToPath(new URL('../node_modules/.cache/stela', import.meta.url))
enableCompileCache(compiled)
// Worker threads read this variable. Without it, each thread would compile its modules again.
process.env['NODE_COMPILE_CACHE'] ??= compiled

await import('./cli/program.ts')
