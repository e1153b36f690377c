/**
 * The key of a database: what the names of its keyspaces start with, in an engine that holds
 * those of several. The keyspaces of the first database have none.
 *
 * A key has a fixed form of letters, digits and underscores, so that a name with it is a name
 * in every store: `s_`, the last 12 digits of the database's id, `__`. No user can give such
 * a name to a keyspace, so databases neither see nor reach each other. Stores that allow 48
 * characters leave 32 of them for the user's own name.
 *
 * Version 0.1 had the whole id and a dot for a key; databases that were made then keep it.
 */

const form = /^s_[0-9a-f]{12}__/
const length = 16

/** For a new database of this id, a UUID. */
export function databaseKeyFor(id: string): string {
  const key = `s_${id.slice(-12).toLowerCase()}__`
  if (!form.test(key)) throw new TypeError(`no key can be made of the id ${id}`)
  return key
}

/** That of a database which version 0.1 made. */
export function dottedKeyFor(id: string): string {
  return `${id}.`
}

/** The key that a name starts with; empty: it has none. */
export function databaseKeyOf(name: string): string {
  return form.test(name) ? name.slice(0, length) : name.slice(0, name.lastIndexOf('.') + 1)
}

/** The name that users know a keyspace by. */
export function withoutDatabaseKey(name: string): string {
  return name.slice(databaseKeyOf(name).length)
}
