import { defineIndexCommand } from './dispatch/index-command.ts'

/** Creates an index by which a column's texts are searched, term by term. */
export const createTextIndex = defineIndexCommand('createTextIndex', 'text')
