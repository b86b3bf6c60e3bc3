/** What must hold of every answer to a hostile request, whatever the request was. Pure: a table of faults. */
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { RawResponse } from './raw-response.ts'

/** The host of the attacker in all replays. `.test` is reserved (RFC 6761): it never resolves. */
const EVIL_HOST = 'evil.test'

/** What an answer is held against. */
interface OracleScope {
  /** Values of the server's environment that nobody outside may see. */
  readonly secrets: readonly string[]
  /** Statuses of 500 and above that the replay asks for; everything else of them is a fault. */
  readonly permitted?: readonly number[]
}

const PROJECT = resolve(import.meta.dirname, '../..')
const STACK_LINE = /^\s+at .{1,200}(?::\d+:\d+\)?|\(<anonymous>\)|\(native\))\s*$/m
const INTERNALS = /node:internal|file:\/\/\/|data-stck=/
/** Markup that the replays send; escaped it has no angle bracket, or no quote that ends an attribute. */
const LIVE_MARKUP = /<script>alert|<img src=x|<svg onload|<iframe src="?javascript|\son\w+="alert/i
const URL_ATTRIBUTE = /\s(?:href|src|action|formaction|poster|data|srcset)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/gi
const REFRESH = /http-equiv="?refresh"?[^>]*url=([^">]*)/gi

/** Names every fault of an answer; empty for a harmless one. */
export function faultsOf(response: RawResponse, scope: OracleScope): string[] {
  const { status, headers, text } = response
  const faults: string[] = []
  if (status >= 500 && scope.permitted?.includes(status) !== true) faults.push(`status ${status}`)
  const caching = response.header('cache-control') ?? ''
  // The page that answers a form with its faults is kept for Back, and for nothing else.
  const isForBack = status === 422 && caching === 'private, no-cache' && response.header('etag') === undefined
  if (status >= 400 && !/\bno-store\b/.test(caching) && !isForBack)
    faults.push(`status ${status} with Cache-Control "${caching}"`)
  if (/\snonce="/.test(text) && !/\b(?:private|no-store)\b/.test(caching)) faults.push('a nonce that caches may share')
  if (response.header('set-cookie') !== undefined && !/\b(?:private|no-store)\b/.test(caching)) {
    faults.push('a cookie that caches may share')
  }
  if (response.header('x-powered-by') !== undefined) faults.push('X-Powered-By')
  for (const [name, value] of headers) {
    const isOwnPath = name.toLowerCase() === 'location' && isSitePath(value)
    if (!isOwnPath && `${name}: ${value}`.toLowerCase().includes(EVIL_HOST))
      faults.push(`${EVIL_HOST} in the header ${name}: ${value}`)
    faults.push(...leaksOf(value, scope).map((leak) => `${leak} in the header ${name}`))
  }
  const location = response.header('location')
  if (location !== undefined && !isSitePath(location)) faults.push(`the Location ${location}`)
  faults.push(...leaksOf(text, scope))
  const type = response.header('content-type') ?? ''
  if (type.startsWith('text/html')) faults.push(...markupFaults(text))
  return faults
}

/** A stack, a path of this machine or a secret. */
function leaksOf(text: string, { secrets }: OracleScope): string[] {
  const faults: string[] = []
  if (STACK_LINE.test(text)) faults.push('a stack')
  if (INTERNALS.test(text)) faults.push('names of source files')
  for (const path of [PROJECT, homedir()]) {
    if (path.length > 2 && text.includes(`${path}/`)) faults.push(`the path ${path}`)
  }
  for (const secret of secrets) if (text.includes(secret)) faults.push('a secret')
  return faults
}

/** Whether a Location stays on this site, as browsers read it. */
export function isSitePath(location: string): boolean {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(location)
}

function markupFaults(html: string): string[] {
  const faults: string[] = []
  const live = LIVE_MARKUP.exec(withoutText(html))
  if (live !== null) faults.push(`live markup: ${live[0]}`)
  const urls = [...html.matchAll(URL_ATTRIBUTE)].map(([, double, single, bare]) => double ?? single ?? bare ?? '')
  urls.push(...[...html.matchAll(REFRESH)].map(([, url = '']) => url))
  for (const url of urls) {
    const plain = url.replaceAll('&amp;', '&')
    const target = URL.canParse(plain, 'http://site.test') ? new URL(plain, 'http://site.test') : undefined
    if (target?.host.includes(EVIL_HOST) === true || /^(?:javascript|vbscript|data):/i.test(target?.protocol ?? '')) {
      faults.push(`the URL ${url} in the markup`)
    }
  }
  return faults
}

/** Leaves what a parser would take for markup: comments out, since browsers end them at the first `-->`. */
function withoutText(html: string): string {
  return html.replaceAll(/<!--.*?-->/gs, '')
}
