import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Command } from 'commander'
import { addClusterOptions, readCluster } from '../../../src/cli/cluster-options.ts'
import type { ClusterConfig } from '../../../src/settings/cluster-settings.ts'
import { serveOptions } from '../../../src/settings/serve-options.ts'

/** Parses flags as `stela serve` does; returns the error text when it rejects them. */
function read(...given: string[]): ClusterConfig | string | undefined {
  let said = ''
  const command = new Command()
    .exitOverride()
    .configureOutput({ writeErr: (text) => (said += text) })
  for (const option of serveOptions()) command.addOption(option)
  try {
    command.parse(given, { from: 'user' })
    return readCluster(command, command.opts())
  } catch {
    return said
  }
}
const onCluster = (...given: string[]) => read('--engine', 'cassandra', ...given)

describe('settings of a cluster', () => {
  test('are rejected for the embedded engine, and settings of a data folder are rejected for a cluster', () => {
    const folder = {
      ...{ data: 'x', users: 'ann:secret', durability: 'relaxed', 'search-threads': '2' },
      ...{ 'max-open': '5', 'max-waiting-reads': '5' },
    }
    for (const [name, value] of Object.entries(folder)) {
      const said = new RegExp(
        `--${name} applies only to --engine embedded: a cluster stores`,
      )
      assert.match(String(onCluster(`--${name}`, value)), said)
    }
    const odd = new Map([
      ['replication', 'dc1=3'],
      ['system-keyspace', 'stela'],
    ])
    const options = addClusterOptions(new Command(), '').options
    assert(options.length > 15)
    for (const option of options) {
      const value = odd.get(option.name()) ?? option.argChoices?.[0] ?? '100'
      assert.equal(
        read(option.long!, value),
        `error: ${option.long} applies only to --engine cassandra.\n`,
      )
    }
    assert.equal(read(), undefined)
  })

  test('are rejected when a setting that they require is missing or invalid', () => {
    for (const [given, said] of [
      [
        '--cassandra-user ann',
        /--cassandra-user and --cassandra-password require each other/,
      ],
      ['--cassandra-ca ca.pem', /but --cassandra-tls is off/],
      ['--cassandra-tls on --cassandra-cert a.pem', /--cassandra-key require each other/],
      [
        '--cassandra-tls on --cassandra-ca nowhere.pem',
        /--cassandra-ca nowhere\.pem cannot be read: .*no such file/,
      ],
      ['--cassandra-tls on --cassandra-ca ', /--cassandra-ca.* cannot be empty/],
      [
        '--cassandra-tls on --cassandra-ca package.json',
        /--cassandra-ca package\.json cannot be used: .* must be in PEM format/,
      ],
      [
        '--cassandra-tls on --cassandra-cert package.json --cassandra-key package.json',
        /--cassandra-cert package\.json with --cassandra-key package\.json cannot be used/,
      ],
      [
        '--secure-connect-bundle nowhere.zip',
        /--secure-connect-bundle nowhere.*no such file/,
      ],
      [
        '--secure-connect-bundle a.zip --contact-points 127.0.0.1',
        /--secure-connect-bundle contains the value of --contact-points/,
      ],
      [
        '--secure-connect-bundle a.zip --cassandra-port 9043',
        /--secure-connect-bundle contains the value of --cassandra-port/,
      ],
      ['--system-keyspace 1st', /It must start with a letter/],
      ['--system-keyspace default_keyspace', /This keyspace is for data/],
      ['--settings-delay 10', /--settings-delay/],
    ] as const)
      assert.match(String(onCluster(...given.split(' '))), said)
  })

  test('have the documented defaults', () => {
    const cluster = onCluster() as ClusterConfig
    assert.deepEqual(cluster.consistency, {
      read: 'LOCAL_QUORUM',
      write: 'LOCAL_QUORUM',
      search: 'LOCAL_ONE',
      serial: 'LOCAL_SERIAL',
    })
    const { settingsDelayMs, scannedMax, comparedMax } = cluster
    assert.deepEqual([settingsDelayMs, scannedMax, comparedMax], [1_000, 100_000, 1_000])
    const user = ['--cassandra-user', 'ann', '--cassandra-password', ' spaced ']
    const { account } = onCluster(...user) as ClusterConfig
    assert.deepEqual(account, { name: 'ann', password: ' spaced ' })
    const given = onCluster('--replication', 'dc1=3,dc2=2') as ClusterConfig
    assert.deepEqual(Object.fromEntries(given.replication!.counts), { dc1: 3, dc2: 2 })
  })
})
