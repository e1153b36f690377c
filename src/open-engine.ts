/** Opens the engine that the settings select. No other module imports a concrete engine. */
import { defaultLexical } from './collections/options/lexical-options.ts'
import type { ClusterConfig, ClusterTls } from './settings/cluster-settings.ts'
import type { Config } from './settings/config.ts'
import type { Engine } from './engine/contract.ts'
import { openEmbeddedEngine } from './engine/embedded/engine.ts'
import type { ClusterReport } from './engine/cassandra/check/check-cluster.ts'
import type { RepairListener } from './engine/cassandra/repair/repair-terms.ts'
import type { EmbeddedOptions } from './engine/embedded/schema/options.ts'
import { firstKeyspace } from './engine/schema.ts'

export type { ClusterReport, RepairListener }

export function openEngine(config: Config, log: EmbeddedOptions['log']): Promise<Engine> {
  const { cluster } = config
  return cluster === undefined
    ? openDataFolder(config, log)
    : openCluster(config, cluster, firstKeyspace)
}

/**
 * Opens an engine for a migration. In a cluster, this neither creates the first keyspace nor limits
 * the number of rows that a read scans.
 */
export function openForMigration(
  config: Config,
  log: EmbeddedOptions['log'],
): Promise<Engine> {
  const { cluster } = config
  if (cluster === undefined) return openDataFolder(config, log)
  const scannedMax = Number.MAX_SAFE_INTEGER
  return openCluster(config, { ...cluster, scannedMax }, undefined)
}

/** Checks the data of a cluster without changing it. */
export async function checkCluster({
  tls,
  ...cluster
}: ClusterConfig): Promise<ClusterReport> {
  const checking = await import('./engine/cassandra/check/check-cluster.ts')
  return checking.checkCluster({ ...cluster, tls: tls && tlsOptions(tls) })
}

/** Repairs the term index of a cluster; returns false when it needs no repair. */
export async function repairCluster(
  { tls, ...cluster }: ClusterConfig,
  listener: RepairListener,
): Promise<boolean> {
  const { repairTerms } = await import('./engine/cassandra/repair/repair-terms.ts')
  const options = { ...cluster, tls: tls && tlsOptions(tls) }
  return repairTerms({ ...options, defaults: collectionDefaults(undefined) }, listener)
}

function openDataFolder(config: Config, log: EmbeddedOptions['log']): Promise<Engine> {
  const { dataDir, durable, acceptsLostCatalog, searchThreads, openStoresMax } = config
  const { vectorMemory } = config
  const { waitingReadsMax, analyzerMemoryMax } = config.limits
  return openEmbeddedEngine({
    ...{ dataDir, durable, acceptsLostCatalog, vectorMemory },
    ...{ searchThreads, openStoresMax, waitingReadsMax, analyzerMemoryMax, log },
  })
}

/**
 * Opens a cluster. The driver is imported lazily: servers with a data folder need no driver and
 * start faster without it.
 */
async function openCluster(
  { features }: Config,
  { settingsDelayMs, scannedMax, comparedMax, tls, ...cluster }: ClusterConfig,
  first: string | undefined,
): Promise<Engine> {
  const { openCassandraEngine } = await import('./engine/cassandra/engine.ts')
  return openCassandraEngine({
    ...cluster,
    tls: tls && tlsOptions(tls),
    settingsPollMs: settingsDelayMs / 2,
    firstKeyspace: first,
    limits: { scannedMax, comparedMax },
    defaults: collectionDefaults(features.lexical),
  })
}

/** Default options for collections whose table comment in the cluster does not specify options. */
function collectionDefaults(lexical: boolean | undefined) {
  return {
    lexical: defaultLexical(lexical ?? true),
    rerank: { enabled: false },
  } as const
}

function tlsOptions({ ca, cert, key, checksHost }: ClusterTls) {
  return {
    rejectUnauthorized: true,
    ...(ca && { ca }),
    ...(cert && { cert, key }),
    ...(!checksHost && { checkServerIdentity: () => undefined }),
  }
}
