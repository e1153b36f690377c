/** Limits per client address, which apply before authentication. */
import type { Option } from 'commander'
import type { AddressLimits } from '../http/connection-gate.ts'
import { setting } from './setting-option.ts'
import { wholeNumber } from './setting-values.ts'

/** Default limits, far above what connection pools and load tests need. */
export const defaultAddressLimits: AddressLimits = {
  openMax: 20_000,
  connectionRate: 2_000,
  resetRate: 200,
  rejectionRate: 500,
}

/**
 * Limits behind a proxy; 0: no limit. All connections come from the proxy, so limits of connections
 * per client address cannot apply.
 */
const behindProxy = { openMax: 0, connectionRate: 0, resetRate: 0 }

const { openMax, connectionRate, resetRate, rejectionRate } = defaultAddressLimits

export function addressOptions(): Option[] {
  return [
    addressSetting(
      'max-address-connections',
      'open connections per client address; 0: no limit',
      openMax,
    ),
    addressSetting(
      'connection-rate',
      'new connections per second and client address; more wait; 0: no limit',
      connectionRate,
    ),
    addressSetting(
      'reset-rate',
      'HTTP/2 stream resets per second and client address; 0: no limit',
      resetRate,
    ),
    addressSetting(
      'rejection-rate',
      'unauthenticated requests per second and client address; more wait; 0: no limit',
      rejectionRate,
    ),
  ]
}

function addressSetting(flag: string, says: string, byDefault: number): Option {
  return setting(flag, '<number>', says)
    .argParser(wholeNumber(0, 1_000_000))
    .default(byDefault)
}

export function readAddressLimits(
  values: Readonly<Record<string, unknown>>,
  isBehindProxy: boolean,
): AddressLimits {
  const given = values as Readonly<{
    maxAddressConnections: number
    connectionRate: number
    resetRate: number
    rejectionRate: number
  }>
  return {
    openMax: given.maxAddressConnections,
    connectionRate: given.connectionRate,
    resetRate: given.resetRate,
    rejectionRate: given.rejectionRate,
    ...(isBehindProxy && behindProxy),
  }
}
