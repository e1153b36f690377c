import { defineIndexCommand } from './dispatch/index-command.ts'

/** Creates an index for filters on a column. */
export const createIndex = defineIndexCommand('createIndex', 'regular')
