/**
 * The guard for every `Location`, from a rule, a loader, an action or the runtime. It reads the text as browsers do,
 * which drop tabs and line breaks and treat a backslash as a slash, and accepts only text with a single meaning.
 */
import { escapeUrlText } from './url-text.ts'

/** Where a redirect may lead. */
interface LocationScope {
  /** Whether an absolute http(s) URL is accepted. Only for targets written by the application's author. */
  readonly external: boolean
}

// Browsers drop some of these before they parse a URL.
const CONTROL = /[\u0000-\u001f\u007f]/

/** Scheme, host and port; then nothing, or the start of path, query or hash. */
const ABSOLUTE = /^(https?):\/\/([0-9a-z_](?:[0-9a-z_.-]*[0-9a-z_])?|\[[0-9a-f:.]+\])(?::(\d{1,5}))?(?=[/?#]|$)/i

const MAX_PORT = 65_535

/**
 * Returns the text for a `Location` header.
 * @param to a path of this site beginning with one slash; if `scope` allows it, also an absolute http(s) URL.
 * @param scope default: only this site, because most targets of loaders and actions are from visitors.
 * @returns ASCII, percent-encoded, with repeated slashes of a path collapsed; `undefined` for everything else: another
 * scheme, `//host`, `/\host`, credentials, control characters, a relative path, leading white space.
 */
export function safeLocation(to: string, scope: LocationScope = { external: false }): string | undefined {
  if (CONTROL.test(to)) return undefined
  if (to.startsWith('/')) return sitePath(to)
  return scope.external ? absoluteUrl(to) : undefined
}

function sitePath(to: string): string | undefined {
  if (/^[\\/]{2}/.test(to)) return undefined
  const pathEnd = to.search(/[?#]/)
  const path = pathEnd === -1 ? to : to.slice(0, pathEnd)
  return escapeUrlText(withoutDots(path.replace(/[\\/]+/g, '/')) + to.slice(path.length))
}

const DOTS = /\/(?:\.|%2e){1,2}(?:\/|$)/i

/** As a browser resolves the path: behind a base path, `/..` would lead out of the application. */
function withoutDots(path: string): string {
  return DOTS.test(path) ? new URL(`http://localhost${path}`).pathname : path
}

function absoluteUrl(to: string): string | undefined {
  const [authority, scheme, host, port] = ABSOLUTE.exec(to) ?? []
  if (authority === undefined || scheme === undefined || host === undefined) return undefined
  if (port !== undefined && Number(port) > MAX_PORT) return undefined
  const rest = to.slice(authority.length)
  return `${scheme.toLowerCase()}://${host}${port === undefined ? '' : `:${port}`}${escapeUrlText(rest)}`
}
