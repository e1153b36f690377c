/**
 * Signatures for Amazon Web Services: version 4, for POST requests without a query.
 *
 * The receiver builds the same canonical text from the request, and signs it with the same
 * key, which is derived from the secret for one day, region and service. See "Create a signed AWS
 * API request" in the IAM user guide.
 */
import { createHash, createHmac } from 'node:crypto'

export interface SigningKeys {
  readonly accessId: string
  readonly secretKey: string
}

export interface SignedRequest {
  readonly url: URL
  readonly body: string
  readonly region: string
  readonly service: string
  readonly at: Date
}

/**
 * Signs a request and returns the headers to add. The signature covers Host and all of `headers`.
 */
export function sign(
  { url, body, region, service, at }: SignedRequest,
  headers: Readonly<Record<string, string>>,
  keys: SigningKeys,
): Record<string, string> {
  const time = at.toISOString().replace(/[-:]|\.\d+/g, '')
  const day = time.slice(0, 8)
  const signed = Object.entries({ ...headers, host: url.host, 'x-amz-date': time })
    .map(([name, value]) => [name.toLowerCase(), value.trim()] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  const names = signed.map(([name]) => name).join(';')
  const canonical = [
    'POST',
    // The path in the canonical text is encoded once more than the path in the request.
    url.pathname.split('/').map(encodePiece).join('/'),
    '',
    ...signed.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    sha256(body),
  ].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(
    (previous, part) => hmac(previous, part).digest(),
    `AWS4${keys.secretKey}`,
  )
  return {
    'x-amz-date': time,
    authorization:
      `AWS4-HMAC-SHA256 Credential=${keys.accessId}/${scope}, ` +
      `SignedHeaders=${names}, Signature=${hmac(key, toSign).digest('hex')}`,
  }
}

/** Encodes all characters except the unreserved ones of RFC 3986. */
export function encodePiece(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function hmac(key: string | Buffer, text: string) {
  return createHmac('sha256', key).update(text)
}
