/** Prints names in CQL, quoted only if necessary. */

export function cqlName(name: string): string {
  const isPlain = /^[a-z][a-z0-9_]*$/.test(name) && !reserved.has(name)
  return isPlain ? name : `"${name.replaceAll('"', '""')}"`
}

/** Reserved words of CQL, which must be quoted as names. */
const reserved: ReadonlySet<string> = new Set(
  (
    'add allow alter and apply asc authorize batch begin by columnfamily create default delete ' +
    'desc describe drop entries execute from full grant if in index infinity insert into is ' +
    'keyspace limit materialized mbean mbeans modify nan norecursive not null of on or order ' +
    'primary rename replace revoke schema select set table to token truncate unlogged unset ' +
    'update use using view where with'
  ).split(' '),
)
