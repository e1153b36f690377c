import { fileURLToPath } from 'node:url'

/**
 * The command line that tests run as a process. `npm test` builds the package and runs
 * its program, which starts in half of the time; a test file that is run alone uses the
 * source.
 */
export const program =
  process.env['STELA_TEST_PROGRAM'] ??
  fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** The environment of server processes: only these variables, so that no setting is inherited. */
export const serverEnvironment = {
  PATH: process.env['PATH'],
  // Cache of compiled sources of `npm test`, so that processes do not compile them again.
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
  // Number of index changes in memory; a small one creates many runs of few entries.
  STELA_TEST_MEMTABLE: process.env['STELA_TEST_MEMTABLE'],
  // Bytes of terms that wait for a segment; a small one creates many segments of few texts.
  STELA_TEST_WAITING: process.env['STELA_TEST_WAITING'],
}
