import { defineIndexCommand } from './dispatch/index-command.ts'

/** Creates an index by which rows are filtered on a column. */
export const createIndex = defineIndexCommand('createIndex', 'regular')
