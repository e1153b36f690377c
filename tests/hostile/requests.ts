/** Requests as bytes. */

export function requestOf(
  token: string,
  path: string,
  body: Buffer,
  headers: readonly string[] = [],
): Buffer {
  return Buffer.concat([headOf(token, path, body.length, headers), body])
}

/** The head of a request with a body of `size` bytes. */
export function headOf(
  token: string,
  path: string,
  size: number,
  headers: readonly string[] = [],
): Buffer {
  const lines = [
    `POST /v1${path} HTTP/1.1`,
    'Host: x',
    `Token: ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${size}`,
    ...headers,
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
}
