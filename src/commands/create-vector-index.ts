import { defineIndexCommand } from './dispatch/index-command.ts'

/** Creates an index for vector searches on a column. */
export const createVectorIndex = defineIndexCommand('createVectorIndex', 'vector')
