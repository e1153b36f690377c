/** What an error says, to clients and to the log. */

/** For clients, who need not know where the server keeps its files: without their names. */
export function reasonOf(error: unknown): string {
  const message = messageOf(error)
  const { path, dest } = Object(error) as { path?: unknown; dest?: unknown }
  return [path, dest].reduce<string>(withoutName, message)
}

/** The system's own end with them: "ENOENT: no such file or directory, open '/a/b'". */
function withoutName(message: string, path: unknown): string {
  if (typeof path !== 'string' || path === '') return message
  const end = message.indexOf(` '${path}'`)
  return (end < 0 ? message : message.slice(0, end)).replaceAll(path, '…')
}

/** For the log and the operator: all of it. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The same with what caused it. */
export function detailsOf(error: unknown): string {
  const { cause } = Object(error) as { cause?: unknown }
  const message = messageOf(error)
  return cause === undefined ? message : `${message}; ${detailsOf(cause)}`
}
