import { defineIndexCommand } from './index-creation.ts'

/** Creates an index by which a column's texts are searched, term by term. */
export const createTextIndex = defineIndexCommand('createTextIndex', 'text')
