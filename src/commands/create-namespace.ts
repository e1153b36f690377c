import { createKeyspace } from './create-keyspace.ts'

/** The older name of createKeyspace. */
export const createNamespace = createKeyspace
