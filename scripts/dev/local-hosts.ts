/**
 * Whether a `Host` header names this machine. The development server gives away sources: without this check a page of
 * any site could read them, by a name of its own that it lets point to this machine.
 */
export function isLocalHost(host: string | undefined): boolean {
  if (host === undefined) return false
  const name = host.toLowerCase().replace(/:\d+$/, '')
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(name)
}
