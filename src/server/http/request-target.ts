import { MAX_TARGET_BYTES } from '../../shared/limits.ts'
import { ROUTE_DATA_PREFIX } from '../../shared/protocol/route-data.ts'

/** The guard's result for a request target. */
export type JudgedTarget =
  | {
      readonly kind: 'ok'
      /**
       * Normalised, still percent-encoded, ASCII; begins with exactly one slash and ends without one, except for `/`
       * and the URL of its route data.
       */
      readonly pathname: string
      /** `''` or with its question mark; ASCII without spaces, otherwise as sent. */
      readonly search: string
      /**
       * Whether a segment is `.` or `..` in any spelling: URL parsers would resolve it, so the path matches nothing
       * here.
       */
      readonly dotSegments: boolean
    }
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'refused'; readonly status: 400 | 414; readonly reason: string }

/** The data of `/`: the only path that ends in a slash, because the page's path does. */
const ROOT_DATA = `${ROUTE_DATA_PREFIX}/`

const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?=\/|$)/i
/** Characters that need the slow path: percent, backslash, non-ASCII and control characters, a dot after a slash. */
// oxlint-disable-next-line no-control-regex -- control characters are what the guard is about
const NEEDS_LOOK = /[%\\\u0000-\u0020\u007f-\uffff]|\/(?:\/|\.)/
// oxlint-disable-next-line no-control-regex -- see above
const CONTROL = /[\u0000-\u001f\u007f]/
/** Both ranges, because terminals obey both. `C2` is never the second byte of a character. */
const ENCODED_CONTROL = /%(?:[01][0-9a-f]|7f|c2%[89][0-9a-f])/i
/** Must be encoded in a URL, and in a `Location`. */
const TO_ENCODE = /[ \u0080-\uffff]/g

/**
 * Judges a raw request target before any other code sees it. Pure.
 * The caller splits an absolute-form target, because it knows which authorities are ours.
 */
export function judgeTarget(target: string): JudgedTarget {
  if (target.length > MAX_TARGET_BYTES) return { kind: 'refused', status: 414, reason: 'URL too long' }
  if (!(target.startsWith('/') || target.startsWith('\\'))) {
    return { kind: 'refused', status: 400, reason: 'malformed request target' }
  }
  const question = target.indexOf('?')
  let pathname = question === -1 ? target : target.slice(0, question)
  let search = question === -1 || question === target.length - 1 ? '' : target.slice(question)
  if (CONTROL.test(target)) return { kind: 'refused', status: 400, reason: 'control character in the URL' }
  // Browsers never send a fragment; a raw one would end the path for URL parsers but not for us.
  if (target.includes('#')) return { kind: 'refused', status: 400, reason: 'fragment in the request target' }

  let dotSegments = false
  if (NEEDS_LOOK.test(pathname)) {
    pathname = pathname.replace(TO_ENCODE, encodeByte)
    if (!isDecodable(pathname)) return { kind: 'refused', status: 400, reason: 'undecodable percent sequence' }
    if (ENCODED_CONTROL.test(pathname)) return { kind: 'refused', status: 400, reason: 'control character in the URL' }
    const collapsed = pathname.replace(/[/\\]+/g, '/')
    if (collapsed !== pathname) return { kind: 'redirect', location: withoutTrailingSlash(collapsed) + ascii(search) }
    dotSegments = DOT_SEGMENT.test(pathname)
  }
  if (pathname.length > 1 && pathname.endsWith('/') && pathname !== ROOT_DATA) {
    return { kind: 'redirect', location: withoutTrailingSlash(pathname) + ascii(search) }
  }
  search = ascii(search)
  return { kind: 'ok', pathname, search, dotSegments }
}

function withoutTrailingSlash(pathname: string): string {
  return pathname.length > 1 && pathname.endsWith('/') ? pathname.slice(0, -1) : pathname
}

function ascii(search: string): string {
  return search === '' ? '' : search.replace(TO_ENCODE, encodeByte)
}

/** Node decodes each byte of the target to one character. */
function encodeByte(character: string): string {
  const code = character.charCodeAt(0)
  return code < 0x100 ? `%${code.toString(16).toUpperCase()}` : encodeURIComponent(character)
}

function isDecodable(pathname: string): boolean {
  if (!pathname.includes('%')) return true
  try {
    decodeURIComponent(pathname)
    return true
  } catch {
    return false
  }
}

const HOST = /^(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9_-])?\.?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i

/** Whether a `Host` header is exactly a host and an optional port. A valid one is safe in an absolute URL. */
export function isValidHost(host: string): boolean {
  // The pattern does not check addresses: `1.2.3.999` and `[::::]` match it.
  return HOST.test(host) && !host.includes('..') && URL.canParse(`http://${host}`)
}

/** Splits an absolute-form target (`http://host/path`), which proxies send. `undefined` for any other form. */
export function splitAbsoluteTarget(target: string): { readonly host: string; readonly target: string } | undefined {
  if (target.startsWith('/')) return undefined
  const found = /^https?:\/\/([^/?#\\]*)(.*)$/is.exec(target)
  if (found === null) return undefined
  const rest = found[2] ?? ''
  return { host: found[1] ?? '', target: rest.startsWith('/') || rest.startsWith('\\') ? rest : `/${rest}` }
}
