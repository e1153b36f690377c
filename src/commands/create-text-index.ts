import { defineIndexCommand } from './dispatch/index-command.ts'

/** Creates an index for searches by terms in the texts of a column. */
export const createTextIndex = defineIndexCommand('createTextIndex', 'text')
