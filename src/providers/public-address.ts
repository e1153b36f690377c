/**
 * Addresses to which requests of clients may make the server connect: public unicast addresses.
 *
 * A client that could name any host could probe the server's own network, where services often
 * trust every client that reaches them. This module rejects all ranges that the registries of
 * special-purpose addresses (RFC 6890 and later additions) do not list as globally reachable.
 */
import { lookup as resolve, type LookupAddress } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** Whether the host of a URL is private, as far as this is known without DNS. */
export function isPrivateHost(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  if (isIP(name) !== 0) return !isPublic(name)
  return /(?:^|\.)localhost$/i.test(name)
}

/**
 * Resolves names for connections. The connection uses the checked addresses, so DNS rebinding has
 * no effect.
 */
export const lookupPublic: LookupFunction = (host, options, done) => {
  resolve(host, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error !== null) {
      done(error, [])
      return
    }
    const hidden = addresses.find(({ address }) => !isPublic(address))
    if (hidden !== undefined || addresses.length === 0)
      done(new Error(`${host} leads to ${hidden?.address ?? 'no address'}`), [])
    else if (options.all === true) done(null, addresses)
    else done(null, addresses[0]!.address, addresses[0]!.family)
  })
}

export function isPublic(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, 'ipv4')
    case 6:
      // A zone such as "%eth0" is only valid for link-local addresses.
      return (
        !address.includes('%') &&
        globalUnicast.check(address, 'ipv6') &&
        !special.check(address, 'ipv6')
      )
    default:
      return false
  }
}

/** All assigned IPv6 unicast space; loopback, mapped, local and multicast addresses are outside. */
const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

const special = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // shared by carriers
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, and the metadata services of clouds
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // AMT
  ['192.88.99.0', 24], // relays of 6to4
  ['192.168.0.0', 16], // private
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
] as const)
  special.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of [
  ['2001::', 23], // protocol assignments, and Teredo, which embeds IPv4 addresses
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4, which embeds IPv4 addresses
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20], // documentation
] as const)
  special.addSubnet(network, prefix, 'ipv6')
