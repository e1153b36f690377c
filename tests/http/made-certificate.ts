/**
 * Creates a self-signed certificate with a new key, for 127.0.0.1 or another address. Node can read
 * certificates but not create them, so this module encodes them in DER according to RFC 5280.
 */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface MadeCertificate {
  readonly cert: string
  readonly key: string
}

export function makeCertificate(
  name = 'stela test',
  address: readonly number[] = [127, 0, 0, 1],
): MadeCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const who = sequence(set(sequence(objectId('2.5.4.3'), tagged(0x0c, Buffer.from(name)))))
  const ecdsaWithSha256 = sequence(objectId('1.2.840.10045.4.3.2'))
  const day = 86_400_000
  const toSign = sequence(
    tagged(0xa0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(1), randomBytes(8)])),
    ecdsaWithSha256,
    who,
    sequence(utcTime(Date.now() - day), utcTime(Date.now() + day)),
    who,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(
      0xa3,
      sequence(
        // basicConstraints CA: only with this extension, clients accept a self-signed certificate
        // as a trusted root.
        extension('2.5.29.19', sequence(tagged(0x01, Buffer.of(0xff)))),
        extension(
          '2.5.29.17',
          sequence(
            tagged(0x82, Buffer.from('localhost')),
            tagged(0x87, Buffer.from(address)),
          ),
        ),
      ),
    ),
  )
  const signature = sign('sha256', toSign, privateKey)
  const der = sequence(
    toSign,
    ecdsaWithSha256,
    tagged(0x03, Buffer.concat([Buffer.of(0), signature])),
  )
  const base64 = der.toString('base64').replace(/.{64}(?=.)/g, '$&\n')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}

/** Writes the certificate and its key as PEM files, which the server reads. */
export async function saveCertificate(folder: string, made: MadeCertificate) {
  const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') }
  await writeFile(files.certFile, made.cert)
  await writeFile(files.keyFile, made.key, { mode: 0o600 })
  return files
}

function tagged(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size =
    length < 0x80
      ? [length]
      : length < 0x100
        ? [0x81, length]
        : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), content])
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return tagged(0x30, ...parts)
}

function set(...parts: readonly Uint8Array[]): Buffer {
  return tagged(0x31, ...parts)
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes)
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(objectId(id), tagged(0x04, value))
}

function utcTime(at: number): Buffer {
  const digits = new Date(at).toISOString().replace(/[-:T]/g, '').slice(2, 14)
  return tagged(0x17, Buffer.from(`${digits}Z`))
}

function objectId(text: string): Buffer {
  const [first, second, ...rest] = text.split('.').map(Number)
  const bytes = [first! * 40 + second!]
  for (const part of rest) {
    const groups = [part & 0x7f]
    for (let left = part >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80)
    bytes.push(...groups)
  }
  return tagged(0x06, Buffer.from(bytes))
}
