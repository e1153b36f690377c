import { dropKeyspace } from './drop-keyspace.ts'

/** The older name of dropKeyspace. */
export const dropNamespace = dropKeyspace
