/**
 * Keys of databases. In an engine that holds several databases, the names of a database's keyspaces
 * start with its key. The keyspaces of the first database have no key. A key is `s_`, the last 12
 * hexadecimal digits of the database's id, and `__`, so that a name with it is valid in every
 * store. Users cannot create keyspaces with such names, so databases are isolated from each other.
 * In stores that allow 48 characters, 32 remain for the user's name. Version 0.1 used the whole id
 * and a dot as key; databases that it created keep that key.
 */

const form = /^s_[0-9a-f]{12}__/
const length = 16

/** Key of a new database; `id` is a UUID. */
export function databaseKeyFor(id: string): string {
  const key = `s_${id.slice(-12).toLowerCase()}__`
  if (!form.test(key)) throw new TypeError(`cannot derive a database key from the id ${id}`)
  return key
}

/** Key of a database that version 0.1 created. */
export function dottedKeyFor(id: string): string {
  return `${id}.`
}

/** The key at the start of a name; empty if the name has no key. */
export function databaseKeyOf(name: string): string {
  return form.test(name) ? name.slice(0, length) : name.slice(0, name.lastIndexOf('.') + 1)
}

/** The keyspace name that users see. */
export function withoutDatabaseKey(name: string): string {
  return name.slice(databaseKeyOf(name).length)
}
