/** Configuration of a Cassandra node and its Java process: small, fast to start, safe to kill. */
import { writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** Settings that all nodes of a cluster share. */
export interface Ring {
  readonly addresses: readonly string[]
  /** Port for clients; drivers expect the same port on all nodes. */
  readonly port: number
  /** Port for communication between nodes. */
  readonly storagePort: number
  /**
   * Whether data must survive a killed node. If not, data survives only a regular stop, and schema
   * changes take a quarter of the time.
   */
  readonly durable: boolean
  /** Java heap of each node. */
  readonly heapMegabytes: number
}

/**
 * Java heap in MB that is enough for tests. Tens of thousands of documents with vectors need more.
 */
export const smallHeap = 512

/**
 * Maximum number of indexes per table for users other than superusers: one less than a collection
 * with vectors has.
 */
export const indexesMax = 8

const configName = 'cassandra.yaml'
const loggingName = 'logback.xml'

export async function writeConfig(
  folder: string,
  address: string,
  ring: Ring,
): Promise<void> {
  // JSON is valid YAML.
  const config = JSON.stringify(configOf(folder, address, ring), null, 2)
  await writeFile(join(folder, configName), config)
  await writeFile(join(folder, loggingName), loggingXml)
}

function configOf(folder: string, address: string, ring: Ring): object {
  const seeds = ring.addresses.map((seed) => `${seed}:${ring.storagePort}`).join(',')
  return {
    cluster_name: 'stela',
    num_tokens: 1,
    initial_token: tokenOf(ring.addresses.indexOf(address), ring.addresses.length),
    // All nodes start empty and at the same time, so there is no data to copy.
    auto_bootstrap: false,
    partitioner: 'org.apache.cassandra.dht.Murmur3Partitioner',
    endpoint_snitch: 'SimpleSnitch',
    seed_provider: [
      {
        class_name: 'org.apache.cassandra.locator.SimpleSeedProvider',
        parameters: [{ seeds }],
      },
    ],
    listen_address: address,
    storage_port: ring.storagePort,
    rpc_address: address,
    native_transport_port: ring.port,
    authenticator: 'PasswordAuthenticator',
    authorizer: 'CassandraAuthorizer',
    role_manager: 'CassandraRoleManager',
    data_file_directories: [join(folder, 'data')],
    commitlog_directory: join(folder, 'commitlog'),
    saved_caches_directory: join(folder, 'saved_caches'),
    hints_directory: join(folder, 'hints'),
    cdc_raw_directory: join(folder, 'cdc'),
    ...(ring.durable
      ? { commitlog_sync: 'batch' }
      : { commitlog_sync: 'periodic', commitlog_sync_period: '10s' }),
    commitlog_segment_size: '16MiB',
    commitlog_total_space: '256MiB',
    disk_failure_policy: 'stop',
    commit_failure_policy: 'stop',
    memtable_heap_space: '64MiB',
    memtable_offheap_space: '64MiB',
    concurrent_reads: 16,
    concurrent_writes: 16,
    file_cache_size: '64MiB',
    networking_cache_size: '32MiB',
    key_cache_size: '16MiB',
    storage_compatibility_mode: 'NONE',
    auto_snapshot: false,
    incremental_backups: false,
    // Materialized views are off by default, but older clusters may contain some.
    materialized_views_enabled: true,
    // Some products set this guardrail. It does not apply to superusers, which most tests use.
    secondary_indexes_per_table_fail_threshold: indexesMax,
    // Timeouts are long, because machines that run tests are busy.
    read_request_timeout: '10s',
    write_request_timeout: '10s',
    cas_contention_timeout: '5s',
    range_request_timeout: '20s',
    request_timeout: '20s',
  }
}

/** Evenly spread fixed tokens, so that rows are on the same nodes in each run. */
function tokenOf(position: number, nodes: number): string {
  return String((2n ** 64n / BigInt(nodes)) * BigInt(position) - 2n ** 63n)
}

const loggingXml = `<configuration>
  <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %date{ISO8601} [%thread] %logger{0}:%L %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="OUT"/></root>
</configuration>
`

const opened = [
  ...['java.lang', 'java.lang.module', 'java.lang.reflect', 'java.io', 'java.util'],
  ...['java.nio', 'sun.nio.ch', 'jdk.internal.loader', 'jdk.internal.ref'],
  ...['jdk.internal.reflect', 'jdk.internal.math', 'jdk.internal.module'],
  'jdk.internal.util.jar',
]

const exported = [
  ...['java.base/jdk.internal.misc', 'java.base/java.lang.ref', 'java.sql/java.sql'],
  'java.management.rmi/com.sun.jmx.remote.internal.rmi',
  'java.management/com.sun.jmx.remote.security',
  ...['java.rmi/sun.rmi.registry', 'java.rmi/sun.rmi.server', 'jdk.unsupported/sun.misc'],
]

const modules = [
  ...opened.map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`),
  '--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED',
  ...exported.map((name) => `--add-exports=${name}=ALL-UNNAMED`),
]

/** Arguments of Java. `archiveFlag` names the class archive to use or to create. */
export function javaArguments(
  folder: string,
  ring: Ring,
  jars: readonly string[],
  archiveFlag: string,
): readonly string[] {
  const { heapMegabytes } = ring
  const nodes = ring.addresses.length
  const agent = jars.find((jar) => /\/jamm-[^/]*$/.test(jar))!
  return [
    ...[`-Xms${heapMegabytes}m`, `-Xmx${heapMegabytes}m`, '-Xss512k'],
    `-XX:MaxDirectMemorySize=${heapMegabytes}m`,
    ...['-XX:+UseG1GC', '-XX:ParallelGCThreads=2', '-XX:ConcGCThreads=1'],
    // A node of the tests lives for minutes, so fast compilation matters more than fast code.
    '-XX:TieredStopAtLevel=1',
    ...['-XX:+UnlockDiagnosticVMOptions', '-XX:+AllowArchivingWithJavaAgent', archiveFlag],
    // With few processors, Cassandra fails parallel writes of vectors: "outstanding pooled
    // objects".
    ...['-XX:ActiveProcessorCount=32', '-Dcassandra.available_processors=2'],
    ...modules,
    `-javaagent:${agent}`,
    '-Djdk.attach.allowAttachSelf=true',
    '-Dio.netty.tryReflectionSetAccessible=true',
    '-Djava.net.preferIPv4Stack=true',
    `-Dlogback.configurationFile=${join(folder, loggingName)}`,
    `-Dcassandra.config=file://${join(folder, configName)}`,
    `-Dcassandra.storagedir=${folder}`,
    '-Dcassandra-foreground=yes',
    // Overhead of a row in bytes, which a node would otherwise estimate for ten seconds.
    '-Dcassandra.memtable.row_overhead_size=180',
    // Interval of the thread that updates the approximate clock; 2 ms by default.
    '-Dcassandra.approximate_time_precision_ms=20',
    // Shortens delays before a node joins the cluster: all nodes are on the same machine.
    '-Dcassandra.skip_wait_for_gossip_to_settle=0',
    '-Dcassandra.ring_delay_ms=2000',
    // Interval at which each node retries to create the first user, until all nodes are up.
    `-Dcassandra.superuser_setup_delay_ms=${nodes > 1 ? 500 : 0}`,
    // Replicates roles to all nodes, so that logins succeed while a node is down.
    `-Dcassandra.system_auth.default_rf=${nodes}`,
    // Skips writing schema changes to disk; a killed node then loses them.
    ...(ring.durable ? [] : ['-Dcassandra.unsafesystem=true']),
    ...['-cp', jars.join(delimiter), 'org.apache.cassandra.service.CassandraDaemon'],
  ]
}
