/** The specification on a Cassandra node. */
import { TestKeyspaces } from '../cassandra/test-keyspaces.ts'
import { startServer } from '../harness.ts'
import { checkStatements } from './check-statements.ts'

checkStatements('cassandra', async () => {
  const keyspaces = await TestKeyspaces.make()
  const engine = await keyspaces.open()
  return {
    // The engine is already wrapped in the checks of its contract, so the server must not wrap it
    // again.
    start: (config) => startServer({ checked: false, ...config }, engine),
    close: async () => {
      await engine.close()
      await keyspaces.remove()
    },
  }
})
