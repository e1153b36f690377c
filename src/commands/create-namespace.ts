import { createKeyspace } from './create-keyspace.ts'

/** Deprecated name of createKeyspace. */
export const createNamespace = createKeyspace
