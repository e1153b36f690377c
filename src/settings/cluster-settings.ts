/** Settings of `stela serve --engine cassandra`. */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { InvalidArgumentError, type Option } from 'commander'
import {
  defaultConsistency,
  levels,
  serialLevels,
  type Consistency,
  type ConsistencyLevel,
  type SerialLevel,
} from '../engine/cassandra/cluster/consistency.ts'
import type { EngineAccount } from '../engine/contract.ts'
import { firstKeyspace, type Replication } from '../engine/schema.ts'
import { defaultLimits } from '../limits.ts'
import { setting } from './setting-option.ts'
import { namedCounts, notEmpty, readList, wholeNumber } from './setting-values.ts'

export interface ClusterConfig {
  /** Names or addresses of some nodes; the driver discovers the others. */
  readonly contactPoints: readonly string[]
  readonly port: number
  readonly localDataCenter: string | undefined
  /** The user as which the server connects. Undefined: the cluster has no authentication. */
  readonly account: EngineAccount | undefined
  readonly tls: ClusterTls | undefined
  /** Path of a secure connect bundle, which replaces contact points, port, data center and TLS. */
  readonly bundle: string | undefined
  readonly systemKeyspace: string
  /** Replication of new keyspaces; undefined: derived from the number of nodes. */
  readonly replication: Replication | undefined
  readonly consistency: Consistency
  /** Maximum delay in milliseconds until this server sees settings that another server changed. */
  readonly settingsDelayMs: number
  /** Maximum documents or rows that one read scans for matches. */
  readonly scannedMax: number
  /** Maximum rows of a partition that a vector search compares exactly. */
  readonly comparedMax: number
}

export interface ClusterTls {
  readonly ca: Buffer | undefined
  readonly cert: Buffer | undefined
  readonly key: Buffer | undefined
  /** Whether the certificate must match the host name of the node. */
  readonly checksHost: boolean
}

const defaultClusterConfig: ClusterConfig = {
  contactPoints: ['127.0.0.1'],
  port: 9042,
  localDataCenter: undefined,
  account: undefined,
  tls: undefined,
  bundle: undefined,
  systemKeyspace: 'stela',
  replication: undefined,
  consistency: defaultConsistency,
  settingsDelayMs: 1_000,
  scannedMax: 100_000,
  comparedMax: 1_000,
}

/**
 * Settings of the embedded engine. They have no effect on a cluster, which stores the data
 * and manages users itself.
 */
const embeddedOnly: readonly string[] = [
  ...['data', 'users', 'durability', 'accept-lost-catalog', 'search-threads'],
  ...['vector-memory', 'max-open', 'max-waiting-reads'],
]

/**
 * Maximum of --max-compared-rows. The server holds the vectors of that many rows to compare them,
 * and a statement that counts the rows uses the value as its LIMIT.
 */
const comparedMaxMax = 1_000_000

export function clusterOptions(): Option[] {
  const { contactPoints, port, systemKeyspace, consistency } = defaultClusterConfig
  const { settingsDelayMs, scannedMax, comparedMax } = defaultClusterConfig
  const level = (name: string, says: string, value: ConsistencyLevel) =>
    setting(name, '<level>', says).choices(levels).default(value)
  const options = [
    setting('contact-points', '<list>', 'addresses of one or more nodes: host,host')
      .argParser(readList)
      .default(contactPoints, contactPoints.join()),
    setting('cassandra-port', '<number>', 'CQL port of the nodes')
      .argParser(wholeNumber(1, 65_535))
      .default(port),
    setting(
      'local-datacenter',
      '<name>',
      'local data center (default: that of the first contact point)',
    ).argParser(notEmpty),
    setting('cassandra-user', '<name>', 'user name of the server on the cluster').argParser(
      notEmpty,
    ),
    setting('cassandra-password', '<password>', 'password of that user').argParser(
      readPassword,
    ),
    setting(
      'cassandra-tls',
      '<on|any-host|off>',
      'TLS to nodes; any-host: do not compare host names with certificates',
    )
      .choices(['on', 'any-host', 'off'])
      .default('off'),
    setting('cassandra-ca', '<file>', 'certificate authority of the nodes (PEM)').argParser(
      notEmpty,
    ),
    setting(
      'cassandra-cert',
      '<file>',
      'client certificate, when nodes require one (PEM)',
    ).argParser(notEmpty),
    setting(
      'cassandra-key',
      '<file>',
      'private key of the client certificate (PEM)',
    ).argParser(notEmpty),
    setting(
      'secure-connect-bundle',
      '<file>',
      'secure connect bundle of an Astra database',
    ).argParser(notEmpty),
    setting(
      'system-keyspace',
      '<name>',
      'keyspace for tokens, roles and other server state',
    )
      .argParser(readKeyspace)
      .default(systemKeyspace),
    setting(
      'replication',
      '<list>',
      'replication of new keyspaces: dc1=3,dc2=2 (default: local data center, up to 3)',
    ).argParser(readReplication),
    level('read-consistency', 'consistency level of reads', consistency.read),
    level('write-consistency', 'consistency level of writes', consistency.write),
    level('search-consistency', 'consistency level of vector searches', consistency.search),
    setting(
      'serial-consistency',
      '<level>',
      'serial consistency level of conditional writes',
    )
      .choices(serialLevels)
      .default(consistency.serial),
    setting(
      'settings-delay',
      '<ms>',
      'maximum delay until all servers reject a revoked token',
    )
      .argParser(wholeNumber(50, defaultLimits.settingsDelayMsMax))
      .default(settingsDelayMs),
    setting('max-scanned', '<number>', 'documents or rows that one read may scan')
      .argParser(wholeNumber(1, Number.MAX_SAFE_INTEGER))
      .default(scannedMax),
    setting(
      'max-compared-rows',
      '<number>',
      'maximum rows of a partition in which a vector search compares all vectors',
    )
      .argParser(wholeNumber(0, comparedMaxMax))
      .default(comparedMax),
  ]
  return options.map((option) => option.helpGroup('With --engine cassandra:'))
}

/**
 * Reads the settings of a cluster; undefined: the embedded engine. `isGiven` returns whether a
 * setting was given explicitly; otherwise it has its default.
 */
export function readClusterConfig(
  values: Readonly<Record<string, unknown>>,
  isGiven: (name: string) => boolean,
): ClusterConfig | undefined {
  const given = values as Readonly<{
    engine: 'embedded' | 'cassandra'
    contactPoints: readonly string[]
    cassandraPort: number
    localDatacenter?: string
    cassandraUser?: string
    cassandraPassword?: string
    cassandraTls: 'on' | 'any-host' | 'off'
    cassandraCa?: string
    cassandraCert?: string
    cassandraKey?: string
    secureConnectBundle?: string
    systemKeyspace: string
    replication?: Replication
    readConsistency: ConsistencyLevel
    writeConsistency: ConsistencyLevel
    searchConsistency: ConsistencyLevel
    serialConsistency: SerialLevel
    settingsDelay: number
    maxScanned: number
    maxComparedRows: number
  }>
  checkGiven(given.engine, isGiven)
  if (given.engine === 'embedded') return undefined
  const { cassandraUser: name, cassandraPassword: password } = given
  if ((name === undefined) !== (password === undefined))
    throw new InvalidArgumentError(
      '--cassandra-user and --cassandra-password require each other. Set both.',
    )
  return {
    contactPoints: given.contactPoints,
    port: given.cassandraPort,
    localDataCenter: given.localDatacenter,
    account: name === undefined ? undefined : { name, password: password! },
    tls: readTls(given),
    bundle: checkBundle(given.secureConnectBundle, isGiven),
    systemKeyspace: given.systemKeyspace,
    replication: given.replication,
    consistency: {
      read: given.readConsistency,
      write: given.writeConsistency,
      search: given.searchConsistency,
      serial: given.serialConsistency,
    },
    settingsDelayMs: given.settingsDelay,
    scannedMax: given.maxScanned,
    comparedMax: given.maxComparedRows,
  }
}

/**
 * Rejects a setting without effect on the engine. Otherwise the operator would not notice the
 * mistake.
 */
function checkGiven(
  engine: 'embedded' | 'cassandra',
  isGiven: (name: string) => boolean,
): void {
  const others =
    engine === 'cassandra' ? embeddedOnly : clusterOptions().map((option) => option.name())
  const given = others.find((name) => isGiven(name))
  if (given !== undefined)
    throw new InvalidArgumentError(
      engine === 'cassandra'
        ? `--${given} applies only to --engine embedded: a cluster stores its data ` +
            'and users itself.'
        : `--${given} applies only to --engine cassandra.`,
    )
}

function readTls(given: {
  readonly cassandraTls: 'on' | 'any-host' | 'off'
  readonly cassandraCa?: string
  readonly cassandraCert?: string
  readonly cassandraKey?: string
}): ClusterTls | undefined {
  const { cassandraTls: tls, cassandraCa, cassandraCert, cassandraKey } = given
  const files = [cassandraCa, cassandraCert, cassandraKey]
  if (tls === 'off') {
    if (files.some((file) => file !== undefined))
      throw new InvalidArgumentError(
        'Certificates for the cluster are set, but --cassandra-tls is off. Turn it ' +
          'on or remove the certificates.',
      )
    return undefined
  }
  if ((cassandraCert === undefined) !== (cassandraKey === undefined))
    throw new InvalidArgumentError(
      '--cassandra-cert and --cassandra-key require each other. Set both.',
    )
  const ca = readGiven('cassandra-ca', cassandraCa)
  const cert = readGiven('cassandra-cert', cassandraCert)
  const key = readGiven('cassandra-key', cassandraKey)
  if (ca !== undefined)
    checkPem(`--cassandra-ca ${cassandraCa}`, () => new X509Certificate(ca))
  if (cert !== undefined)
    checkPem(`--cassandra-cert ${cassandraCert} with --cassandra-key ${cassandraKey}`, () =>
      createSecureContext({ cert, key }),
    )
  return { ca, cert, key, checksHost: tls === 'on' }
}

function readGiven(name: string, file: string | undefined): Buffer | undefined {
  try {
    return file === undefined ? undefined : readFileSync(file)
  } catch (error) {
    throw new InvalidArgumentError(
      `--${name} ${file} cannot be read: ${(error as Error).message}`,
    )
  }
}

/**
 * Checks a file when the server starts. Otherwise an invalid file would be reported only at the
 * first connection, or never.
 */
function checkPem(given: string, use: () => unknown): void {
  try {
    use()
  } catch (error) {
    throw new InvalidArgumentError(
      `${given} cannot be used: ${(error as Error).message}. The files must be in PEM format.`,
    )
  }
}

/** Settings that a bundle contains. */
const bundled: readonly string[] = [
  ...['contact-points', 'cassandra-port', 'local-datacenter', 'cassandra-tls'],
]

function checkBundle(
  bundle: string | undefined,
  isGiven: (name: string) => boolean,
): string | undefined {
  if (bundle === undefined) return undefined
  const other = bundled.find(isGiven)
  if (other !== undefined)
    throw new InvalidArgumentError(
      `--secure-connect-bundle contains the value of --${other}. Leave one of them out.`,
    )
  readGiven('secure-connect-bundle', bundle)
  return bundle
}

/** Reads a password without trimming it: spaces are part of a password. */
function readPassword(text: string): string {
  notEmpty(text)
  return text
}

/**
 * Reads the name of a keyspace. It must be an unquoted CQL name, so that other tools can use the
 * keyspace without quotes.
 */
function readKeyspace(text: string): string {
  if (!/^[a-z]\w{0,47}$/i.test(text))
    throw new InvalidArgumentError(
      'It must start with a letter and contain at most 48 letters, digits and underscores.',
    )
  if (text === firstKeyspace)
    throw new InvalidArgumentError('This keyspace is for data. Choose another name.')
  return text
}

function readReplication(text: string): Replication {
  return { class: 'NetworkTopologyStrategy', counts: namedCounts(text) }
}
