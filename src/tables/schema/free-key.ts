/**
 * What stored values call a column, or a field of a user-defined type: its name, unless that
 * is taken. What was dropped or renamed keeps its key, under which there may be values.
 */
export function freeKey(name: string, taken: ReadonlySet<string>): string {
  let key = name
  for (let count = 2; taken.has(key); count++) key = `${name}~${count}`
  return key
}
