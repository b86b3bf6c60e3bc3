import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'

/** Host names that the development server answers beside those of this machine. */
export interface AllowedHosts {
  /** In lower case, without a port. */
  readonly names: ReadonlySet<string>
  /** Addresses of this machine that others reach, as they are now. */
  addresses(): readonly string[]
}

/** Without options: this machine alone. */
export const LOCAL_ONLY: AllowedHosts = { names: new Set(), addresses: () => [] }

/**
 * Whether a `Host` header names this machine, or a name that its user allows. The development server serves sources:
 * without this check a page of any site could read them, through a host name of its own that resolves to this machine.
 */
export function isAllowedHost(host: string | undefined, { names, addresses }: AllowedHosts): boolean {
  if (host === undefined || host.length > MOST_HOST) return false
  const name = host.toLowerCase().replace(/:\d{1,5}$/, '')
  if (name === '[::1]' || LOCAL_NAME.test(name) || /^127(?:\.\d{1,3}){3}$/.test(name)) return true
  if (names.has(name)) return true
  const address = name.replace(/^\[(.*)\]$/, '$1')
  return isIP(address) !== 0 && addresses().includes(address)
}

const MOST_HOST = 255 // characters; no name is longer
const LOCAL_NAME = /^(?:[a-z0-9_-]+\.)*localhost$/

/** The addresses at which other machines reach this one, IPv4 first; those of one link alone are left out. */
export function networkAddresses(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((found) => found ?? [])
  const reachable = all.filter(({ internal, scopeid = 0 }) => !internal && scopeid === 0)
  return reachable.toSorted((a, b) => a.family.localeCompare(b.family, 'en')).map(({ address }) => address)
}

/** Whether an address to listen on means all of them. */
export function isEveryAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

/** An address as it is in a URL. */
export function urlHost(address: string): string {
  return isIP(address) === 6 ? `[${address}]` : address
}
