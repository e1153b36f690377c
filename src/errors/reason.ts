/** Texts of thrown errors, for clients and for the log. */

/** The message for clients. File names are removed, because clients must not learn them. */
export function reasonOf(error: unknown): string {
  const message = messageOf(error)
  const { path, dest } = Object(error) as { path?: unknown; dest?: unknown }
  return [path, dest].reduce<string>(withoutName, message)
}

/**
 * The message without the path that the operating system appends, as in "ENOENT: no such file or
 * directory, open '/a/b'".
 */
function withoutName(message: string, path: unknown): string {
  if (typeof path !== 'string' || path === '') return message
  const end = message.indexOf(` '${path}'`)
  return (end < 0 ? message : message.slice(0, end)).replaceAll(path, '…')
}

/** The full message, for the log and the operator. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The message of an error, with the messages of its causes. */
export function detailsOf(error: unknown): string {
  const { cause } = Object(error) as { cause?: unknown }
  const message = messageOf(error)
  return cause === undefined ? message : `${message}; ${detailsOf(cause)}`
}
