/**
 * Runs some document and row commands on the in-memory engine, which leaves most of a query
 * to its callers. `STELA_TEST_ENGINE=memory` runs any other test on it.
 */
process.env['STELA_TEST_ENGINE'] = 'memory'

await import('./delete-many.test.ts')
await import('./table-sort.test.ts')
await import('./table-delete.test.ts')
await import('./user-types.test.ts')
