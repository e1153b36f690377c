import { dropKeyspace } from './drop-keyspace.ts'

/** Deprecated name of dropKeyspace. */
export const dropNamespace = dropKeyspace
