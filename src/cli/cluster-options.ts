/** Cluster settings for the commands that check a cluster or migrate data. */
import { InvalidArgumentError, type Command } from 'commander'
import {
  clusterOptions,
  readClusterConfig,
  type ClusterConfig,
} from '../settings/cluster-settings.ts'

export function addClusterOptions(command: Command, heading: string): Command {
  for (const option of clusterOptions()) command.addOption(option.helpGroup(heading))
  return command
}

/**
 * The settings of the cluster; undefined for the embedded engine. `shared` names options that are
 * allowed with both engines.
 */
export function readCluster(
  command: Command,
  values: Readonly<Record<string, unknown>>,
  shared: readonly string[] = [],
): ClusterConfig | undefined {
  const isGiven = (name: string) => {
    const option = command.options.find((candidate) => candidate.name() === name)
    if (option === undefined || shared.includes(name)) return false
    const source = command.getOptionValueSource(option.attributeName())
    return source !== undefined && source !== 'default'
  }
  try {
    return readClusterConfig(values, isGiven)
  } catch (error) {
    if (error instanceof InvalidArgumentError) command.error(`error: ${error.message}`)
    throw error
  }
}
