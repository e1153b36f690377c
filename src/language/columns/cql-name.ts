/** Names as CQL prints them: in quotes only where they would be read as something else. */

export function cqlName(name: string): string {
  const isPlain = /^[a-z][a-z0-9_]*$/.test(name) && !reserved.has(name)
  return isPlain ? name : `"${name.replaceAll('"', '""')}"`
}

/** Words of CQL that no name can be without quotes. */
const reserved: ReadonlySet<string> = new Set(
  (
    'add allow alter and apply asc authorize batch begin by columnfamily create default delete ' +
    'desc describe drop entries execute from full grant if in index infinity insert into is ' +
    'keyspace limit materialized mbean mbeans modify nan norecursive not null of on or order ' +
    'primary rename replace revoke schema select set table to token truncate unlogged unset ' +
    'update use using view where with'
  ).split(' '),
)
