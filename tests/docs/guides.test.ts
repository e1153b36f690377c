/** The examples of docs/guides/ have the output that the pages show. */
import { readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { startServer, temporaryFolder, testToken } from '../harness.ts'
import { followGuide } from './guide.ts'

const folder = new URL('../../docs/guides/', import.meta.url)

/** Guides that other tests follow, with the names of these tests. */
const elsewhere: Readonly<Record<string, string>> = {
  'move-to-a-cluster.md': 'tests/cassandra/guide.test.ts, on a node',
  'test-an-application.md': 'npm run test:recipes, with packages of a registry',
}

describe('the guide', () => {
  for (const name of readdirSync(folder).filter((file) => !(file in elsewhere)))
    test(`${name} has examples with the documented output`, async (t) => {
      const page = readFileSync(new URL(name, folder), 'utf8')
      const server = await startServer({ adminPort: 0 })
      const place = await temporaryFolder()
      try {
        const offered = await server.command('', { findEmbeddingProviders: {} })
        if (page.includes('"local"') && !offered.text.includes('"local":'))
          t.skip('the built-in model is not installed')
        else
          await followGuide(page, place, {
            STELA_URL: server.url,
            STELA_ADMIN_URL: server.adminUrl,
            STELA_TOKEN: testToken,
          })
      } finally {
        await server.close()
        await rm(place, { recursive: true })
      }
    })
})
