export function KeyspacePage({
  keyspace,
}: {
  readonly database: string
  readonly keyspace: string
}) {
  return <p>{keyspace}</p>
}
