import { fileURLToPath } from 'node:url'

/**
 * The program that tests run as a process. `npm test` builds the package and runs its
 * program, which starts in half of the time. A test file that runs alone uses the source.
 */
export const program =
  process.env['STELA_TEST_PROGRAM'] ??
  fileURLToPath(new URL('../src/main.ts', import.meta.url))

/**
 * The environment of server processes. It has only these variables, so that servers inherit no
 * settings.
 */
export const serverEnvironment = {
  PATH: process.env['PATH'],
  // The cache of compiled sources of `npm test`, so that no process compiles them again.
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
  // Number of index changes in memory. A small number causes many runs of few entries.
  STELA_TEST_MEMTABLE: process.env['STELA_TEST_MEMTABLE'],
  // Bytes of terms that wait for a segment. A small number causes many segments of few texts.
  STELA_TEST_WAITING: process.env['STELA_TEST_WAITING'],
}
