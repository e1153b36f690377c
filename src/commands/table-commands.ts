/**
 * Commands that only tables have. They are known by name and fields, so that sending one to
 * a collection is answered with the reason.
 */
import { defineCommand } from './define.ts'
import { anything, noOptions } from './fields.ts'

export const alterTable = defineCommand({
  does: 'schema',
  fields: { operation: anything, options: noOptions },
})

const createAnyIndex = defineCommand({
  does: 'schema',
  fields: { name: anything, definition: anything, indexType: anything, options: anything },
})

export const createIndex = createAnyIndex
export const createTextIndex = createAnyIndex
export const createVectorIndex = createAnyIndex

export const listIndexes = defineCommand({
  does: 'read',
  fields: { options: anything },
})
