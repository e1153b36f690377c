/**
 * Key of a client address for limits per client: an IPv4 address itself, and the /64 prefix of an
 * IPv6 address, because an IPv6 client usually owns a whole network.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  return mapped?.[1] ?? prefixOf(address)
}

/** The first four of the eight groups of an IPv6 address, after expanding `::`. */
function prefixOf(address: string): string {
  const [head = '', tail] = address.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const between = tail === undefined ? 0 : 8 - before.length - after.length
  const parts = [...before, ...Array<string>(Math.max(between, 0)).fill('0'), ...after]
  return parts.slice(0, 4).join(':')
}
