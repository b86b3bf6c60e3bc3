/**
 * Whether a `Host` header names this machine. The development server serves sources: without this check a page of any
 * site could read them, through a host name of its own that resolves to this machine.
 */
export function isLocalHost(host: string | undefined): boolean {
  if (host === undefined || host.length > MOST_HOST) return false
  const name = host.toLowerCase().replace(/:\d{1,5}$/, '')
  return name === '[::1]' || LOCAL_NAME.test(name) || /^127(?:\.\d{1,3}){3}$/.test(name)
}

const MOST_HOST = 255 // characters; no name is longer
const LOCAL_NAME = /^(?:[a-z0-9_-]+\.)*localhost$/
