/**
 * The TLS certificate: read from two files, and reloaded while the server runs, because
 * certificates are renewed more often than servers are restarted.
 */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'

export interface CertificateFiles {
  readonly certFile: string
  readonly keyFile: string
  /** Interval between checks of the files, in milliseconds. */
  readonly lookEveryMs?: number
}

export interface Certificate {
  /** PEM: the server certificate, followed by its intermediate certificates. */
  readonly cert: Buffer
  readonly key: Buffer
}

/**
 * Reads and checks the files. Throws an error that tells operators what is wrong with which file.
 */
export function readCertificate({ certFile, keyFile }: CertificateFiles): Certificate {
  const cert = readFile('certificate', certFile)
  const key = readFile('key', keyFile)
  const shown = parse(certFile, 'a certificate in PEM', () => new X509Certificate(cert))
  if (!shown.checkPrivateKey(parseKey(key, keyFile)))
    throw new Error(
      `The private key in ${keyFile} does not belong to the certificate in ${certFile}.`,
    )
  // createSecureContext also checks the certificates that follow the first one.
  parse(certFile, 'a certificate chain', () => createSecureContext({ cert, key }))
  return { cert, key }
}

function parseKey(key: Buffer, keyFile: string): KeyObject {
  if (/^-----BEGIN ENCRYPTED|^Proc-Type: 4,ENCRYPTED/m.test(key.toString('latin1')))
    throw new Error(
      `The private key in ${keyFile} has a passphrase. Use a key without one.`,
    )
  return parse(keyFile, 'a private key in PEM', () => createPrivateKey(key))
}

function readFile(what: string, file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new Error(`The ${what} in ${file} cannot be read: ${reasonOf(error)}.`)
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'the file does not exist',
  EACCES: 'this user may not read the file',
  EISDIR: 'it is a folder',
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return reasons[code ?? ''] ?? message
}

function parse<T>(file: string, expected: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new Error(`${file} does not contain ${expected}.`, { cause: error })
  }
}

/** Default interval between checks: replaced files are used within a minute. */
const lookEveryMs = 60_000

/**
 * Checks the files periodically, and passes each new certificate to `use`. While the files are not
 * a valid pair, for example because only one of them was replaced yet, the previous certificate
 * stays in use. Returns a function that stops the checks.
 */
export function watchCertificate(
  files: CertificateFiles,
  first: Certificate,
  use: (certificate: Certificate) => void,
  log: (level: 'info' | 'warn', message: string) => void,
): () => void {
  let used = first
  let logged = ''
  const look = () => {
    try {
      const read = readCertificate(files)
      logged = ''
      if (read.cert.equals(used.cert) && read.key.equals(used.key)) return
      use(read)
      used = read
      log('info', `Loaded the new certificate in ${files.certFile}`)
    } catch (error) {
      const { message } = error as Error
      // Each problem is logged once instead of once per check.
      if (message !== logged)
        log(
          'warn',
          `The new certificate cannot be used; the old one stays in use: ${message}`,
        )
      logged = message
    }
  }
  const timer = setInterval(look, files.lookEveryMs ?? lookEveryMs)
  timer.unref()
  return () => clearInterval(timer)
}
