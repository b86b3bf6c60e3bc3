import { BlockList, isIP } from 'node:net'

/** Answers whether an address belongs to one of our proxies. */
export type ProxyTrust = (address: string | undefined) => boolean

/** No proxy is ours: where none is named. */
export const TRUST_NOBODY: ProxyTrust = () => false

/**
 * Reads a list of CIDR blocks or single addresses.
 * @throws {RangeError} naming the entry that is neither.
 */
export function parseProxyTrust(entries: readonly string[]): ProxyTrust {
  if (entries.length === 0) return TRUST_NOBODY
  const blocks = new BlockList()
  for (const entry of entries) {
    const [address = '', prefix, ...rest] = entry.split('/')
    const family = isIP(address)
    // `Number` takes nothing at all for 0, and 0 bits are everybody.
    const bits = prefix === undefined ? undefined : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN
    const widest = family === 4 ? 32 : 128
    if (family === 0 || rest.length > 0 || (bits !== undefined && !(bits >= 0 && bits <= widest))) {
      throw new RangeError(`"${entry}" is no address and no CIDR block`)
    }
    const name = family === 4 ? 'ipv4' : 'ipv6'
    if (bits === undefined) blocks.addAddress(address, name)
    else blocks.addSubnet(address, bits, name)
  }
  return (address) => {
    if (address === undefined) return false
    const plain = address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address
    const family = isIP(plain)
    return family !== 0 && blocks.check(plain, family === 4 ? 'ipv4' : 'ipv6')
  }
}

/** Where a request came from, as far as it can be believed. */
export interface ClientAddress {
  readonly address: string
  readonly protocol: 'http' | 'https'
  readonly host: string
  /** The configured public origin of this host; absent where none is configured. What absolute URLs begin with. */
  readonly origin?: string
  /** Whether visitors come by https, although this hop does not show it: `origin` says so, and no proxy the contrary. */
  readonly secure?: true
}

/** Whether browsers may be told to come by https only. */
export function isSecure({ protocol, secure }: ClientAddress): boolean {
  return protocol === 'https' || secure === true
}

/** The forwarding headers of a request, as sent. */
export interface ForwardedHeaders {
  readonly for: string | undefined
  readonly protocol: string | undefined
  readonly host: string | undefined
}

/**
 * Follows `X-Forwarded-*` as far as trust reaches. From a peer that is no proxy of ours they count for nothing.
 * The client is the last address of the chain that is not one of our proxies. A hop that is no address ends the chain:
 * who stands in front of it is hearsay.
 */
export function resolveClientAddress(
  peer: { readonly address: string | undefined; readonly encrypted: boolean; readonly host: string },
  forwarded: ForwardedHeaders,
  trust: ProxyTrust,
  isValidHost: (host: string) => boolean,
): ClientAddress {
  const direct: ClientAddress = {
    address: peer.address ?? '',
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

/** @returns who is in front of our proxies, if that can be told, and how many of them the request has passed. */
function clientOf(hops: readonly string[], trust: ProxyTrust) {
  let address: string | undefined
  let proxies = 1
  for (const hop of hops.toReversed()) {
    const next = addressOf(hop.trim())
    if (next === undefined) break
    address = next
    if (!trust(next)) break
    proxies += 1
  }
  return { address, proxies }
}

/**
 * What the first of our proxies says, where each adds to what it was told: what stands before it is the visitor's own. One
 * value alone is that of a proxy which writes its own over it.
 */
function outermost(list: string | undefined, proxies: number): string | undefined {
  if (list === undefined || !list.includes(',')) return list
  const told = list.split(',')
  return told[Math.max(0, told.length - proxies)]?.trim()
}

/** Some proxies write the port behind the address, and IPv6 in brackets. */
function addressOf(hop: string): string | undefined {
  if (isIP(hop) !== 0) return hop
  const [, six, four] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/.exec(hop) ?? []
  const address = six ?? four ?? ''
  return isIP(address) === (six === undefined ? 4 : 6) ? address : undefined
}
