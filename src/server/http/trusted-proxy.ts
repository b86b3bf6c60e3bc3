import { BlockList, isIP } from 'node:net'

/** Whether an address belongs to one of our proxies. */
export type ProxyTrust = (address: string | undefined) => boolean

/** For configurations without proxies. */
export const TRUST_NOBODY: ProxyTrust = () => false

/**
 * Parses a list of CIDR blocks or single addresses.
 * @throws {RangeError} naming the entry that is neither.
 */
export function parseProxyTrust(entries: readonly string[]): ProxyTrust {
  if (entries.length === 0) return TRUST_NOBODY
  const blocks = new BlockList()
  for (const entry of entries) {
    const [given = '', prefix, ...rest] = entry.split('/')
    // As Node writes IPv4 addresses of a socket for both. `BlockList` would read its prefix as one of IPv6.
    const address = /^::ffff:(?=[\d.]+$)/i.test(given) ? given.slice(7) : given
    const family = isIP(address)
    // `Number('')` is 0, and 0 bits would match every address.
    const bits = prefix === undefined ? undefined : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN
    const widest = family === 4 ? 32 : 128
    if (family === 0 || rest.length > 0 || (bits !== undefined && !(bits >= 0 && bits <= widest))) {
      throw new RangeError(`"${entry}" is not a valid IP address or CIDR block`)
    }
    const name = family === 4 ? 'ipv4' : 'ipv6'
    if (bits === undefined) blocks.addAddress(address, name)
    else blocks.addSubnet(address, bits, name)
  }
  const trust: ProxyTrust = (address) => {
    if (address === undefined) return false
    const plain = plainAddress(address)
    const family = isIP(plain)
    return family !== 0 && blocks.check(plain, family === 4 ? 'ipv4' : 'ipv6')
  }
  if (EVERYWHERE.some((addresses) => addresses.every(trust))) {
    throw new RangeError(`"${entries.join(',')}" names all addresses`)
  }
  return trust
}

/** Addresses that no single network has, of each family. */
const EVERYWHERE = [
  ['8.8.8.8', '93.184.216.34', '151.101.1.69', '203.0.113.7'],
  ['2001:db8::1', '2606:4700::1', '2a00:1450::1', '2c0f:f248::1'],
] as const

/** Node's form of an IPv4 address on a socket of both families is that address. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address
}

/** Origin of a request, as far as it can be trusted. */
export interface ClientAddress {
  readonly address: string
  readonly protocol: 'http' | 'https'
  readonly host: string
  /** The configured public origin of this host, for absolute URLs; absent if none is configured. */
  readonly origin?: string
  /** Set if visitors use https although this hop does not: `origin` says so, and no proxy contradicts it. */
  readonly secure?: true
}

/** The configured origin that a request names, or its valid host: which site it asks for. */
export function siteOf({ origin, host }: Pick<ClientAddress, 'origin' | 'host'>): string {
  return origin ?? host.toLowerCase()
}

/** Whether the answer may tell browsers to use only https. */
export function isSecure({ protocol, secure }: ClientAddress): boolean {
  return protocol === 'https' || secure === true
}

/** The forwarding headers of a request, as sent. */
interface ForwardedHeaders {
  readonly for: string | undefined
  readonly protocol: string | undefined
  readonly host: string | undefined
}

/**
 * Follows `X-Forwarded-*` as far as trust reaches; a peer that is not our proxy may not set them. The client is the
 * last address of the chain that is not one of our proxies. A hop that is not an address ends the chain, because
 * everything before it is unverified.
 */
export function resolveClientAddress(
  peer: { readonly address: string | undefined; readonly encrypted: boolean; readonly host: string },
  forwarded: ForwardedHeaders,
  trust: ProxyTrust,
  isValidHost: (host: string) => boolean,
): ClientAddress {
  const direct: ClientAddress = {
    address: plainAddress(peer.address ?? ''),
    protocol: peer.encrypted ? 'https' : 'http',
    host: peer.host,
  }
  if (!trust(peer.address)) return direct
  const { address = direct.address, proxies } = clientOf((forwarded.for ?? '').split(','), trust)
  const protocol = outermost(forwarded.protocol, proxies)
  const host = outermost(forwarded.host, proxies)
  return {
    address,
    protocol: protocol === 'https' || protocol === 'http' ? protocol : direct.protocol,
    host: host !== undefined && isValidHost(host) ? host : direct.host,
  }
}

/** @returns the address in front of our proxies, if known, and how many of them the request has passed. */
function clientOf(hops: readonly string[], trust: ProxyTrust) {
  let address: string | undefined
  let proxies = 1
  for (const hop of hops.toReversed()) {
    const next = addressOf(hop.trim())
    if (next === undefined) break
    address = plainAddress(next)
    if (!trust(next)) break
    proxies += 1
  }
  return { address, proxies }
}

/**
 * The value of our first proxy, if each proxy appends one: the values before it come from the visitor. A single value
 * comes from a proxy that replaces the header.
 */
function outermost(list: string | undefined, proxies: number): string | undefined {
  if (list === undefined || !list.includes(',')) return list
  const told = list.split(',')
  return told[Math.max(0, told.length - proxies)]?.trim()
}

/** Some proxies append the port, and put IPv6 in brackets. */
function addressOf(hop: string): string | undefined {
  if (isIP(hop) !== 0) return hop
  const [, six, four] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/.exec(hop) ?? []
  const address = six ?? four ?? ''
  return isIP(address) === (six === undefined ? 4 : 6) ? address : undefined
}
