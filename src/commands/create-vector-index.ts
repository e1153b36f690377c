import { defineIndexCommand } from './dispatch/index-command.ts'

/** Creates an index by which a column's vectors are searched. */
export const createVectorIndex = defineIndexCommand('createVectorIndex', 'vector')
