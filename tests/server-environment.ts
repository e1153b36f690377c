import { fileURLToPath } from 'node:url'

/**
 * The command line that tests run as a process. `npm test` makes what people install and has
 * that run, which starts in half of the time; a file that is run by itself takes the source.
 */
export const program =
  process.env['STELA_TEST_PROGRAM'] ??
  fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** Of our environment, what the processes of a server get: none of it sets them up. */
export const serverEnvironment = {
  PATH: process.env['PATH'],
  // Where `npm test` keeps compiled sources, so that not every process compiles them anew.
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
  // How many changes of an index are in memory, to have many runs of few entries.
  STELA_TEST_MEMTABLE: process.env['STELA_TEST_MEMTABLE'],
  // How many bytes of terms wait to become a segment, to have many of few texts.
  STELA_TEST_WAITING: process.env['STELA_TEST_WAITING'],
}
