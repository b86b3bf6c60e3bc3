import { isIPv6 } from 'node:net'

/**
 * Names a client for counting: its address, or for IPv6 the 64 bits of its network, because a client has all addresses
 * of its network (RFC 4291, section 2.5.4).
 * @param address of `ClientAddress`.
 */
export function clientKey(address: string): string {
  if (!address.includes(':')) return address
  // Node's form of an IPv4 address on a dual-stack socket.
  if (address.startsWith('::ffff:') && address.includes('.') && !address.includes('%')) return address.slice(7)
  const plain = address.replace(/%.*$/, '')
  if (!isIPv6(plain)) return address
  const mapped = mappedAddress(plain)
  if (mapped !== undefined) return mapped
  const [left = '', right = ''] = plain.toLowerCase().split('::')
  const before = left === '' ? [] : left.split(':')
  const after = right === '' ? [] : right.split(':')
  const zeros = plain.includes('::') ? Math.max(8 - before.length - after.length, 0) : 0
  const groups = [...before, ...Array<string>(zeros).fill('0'), ...after]
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${network.join(':')}::/64`
}

/**
 * The IPv4 address in an IPv6 address that only wraps it, in any spelling: mapped (RFC 4291, section 2.5.5.2), or by the
 * well-known prefix of translators (RFC 6052, section 2.1), whose network is all of IPv4.
 */
function mappedAddress(address: string): string | undefined {
  if (!/^(?:[0:]+:ffff|0{0,2}64:ff9b):/i.test(address)) return undefined
  const groups = /^\[(?:::ffff|64:ff9b:):([\da-f]+):([\da-f]+)\]$/.exec(new URL(`http://[${address}]`).hostname)
  const [, high = '', low = ''] = groups ?? []
  if (groups === null) return undefined
  const bytes = Number.parseInt(high, 16) * 65_536 + Number.parseInt(low, 16)
  return [24, 16, 8, 0].map((shift) => (bytes >>> shift) & 0xff).join('.')
}
