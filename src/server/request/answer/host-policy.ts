/**
 * A Content-Security-Policy that was set before the application answers, by a host, by middleware or by a rule, and what
 * the runtime adds to it. Nothing of it is removed: the nonce or the hashes of a page join the sources of its scripts
 * and styles.
 */

/** Facts about a page and its visitor. */
interface PolicyFacts {
  /** The policy that the page has if none was set before. */
  readonly own: string
  /** Host and port as visitors know them. */
  readonly host: string
  /** Path of the browser's files, with the base path. */
  readonly assetsPath: string
  /** Whether visitors use https. */
  readonly secure: boolean
}

/** A policy with what the runtime has added. */
interface MergedPolicy {
  /** As it was set: one header, or several. */
  readonly value: string | string[]
  /** What the page needs and the policy forbids, as `directive source`. */
  readonly forbidden: readonly string[]
}

/** Value of a header as `getHeader` gives it. */
type HeaderValue = number | string | readonly string[]

interface Policy {
  /** The directives as written. */
  readonly texts: string[]
  /** The first directive of each name: browsers ignore others. */
  readonly directives: Map<string, { readonly at: number; readonly sources: readonly string[] }>
}

interface Added {
  readonly sources: readonly string[]
  /** Source expression of the build's files. */
  readonly place: string
  /** Whether files of the build must be allowed by their place, because no nonce allows them. */
  readonly files: boolean
}

/** Directives that browsers use if one is missing (CSP3, section 6.8.3). */
const FALLBACKS: Readonly<Record<string, readonly string[]>> = {
  'script-src-elem': ['script-src', 'default-src'],
  'style-src-elem': ['style-src', 'default-src'],
  'style-src-attr': ['style-src', 'default-src'],
  'worker-src': ['child-src', 'script-src', 'default-src'],
  'frame-src': ['child-src', 'default-src'],
  'form-action': [],
}

const EXACT = /^'(?:nonce-|sha(?:256|384|512)-)/i
/** What makes browsers ignore `'unsafe-inline'`. */
const NOT_LOOSE = /^'(?:nonce-|sha(?:256|384|512)-|strict-dynamic')/i
const LOOSE = "'unsafe-inline'"
/** Only a nonce that each answer has for itself lets such a policy's documents run. */
const PRIVATE_POLICY = /'(?:nonce-|strict-dynamic')/i

/** What the application's own policy allows by `default-src`. */
const BY_DEFAULT = ['connect-src', 'font-src', 'worker-src'] as const
const CHECKED = [...BY_DEFAULT, 'img-src', 'media-src', 'frame-src', 'form-action'] as const
const UNSANDBOXED = ['allow-scripts', 'allow-same-origin', 'allow-forms']
/** Browsers upgrade no requests to this machine. */
const LOCAL = /^(?:[\w.-]+\.)?localhost(?::|$)|^127\.|^\[::1\]/i

/**
 * Adds to each policy of a header what lets the page's scripts and styles run.
 * @param set the header as it was set; several policies may be in one line, or in several.
 */
export function mergePolicy(set: HeaderValue, facts: PolicyFacts): MergedPolicy {
  const own = readPolicy(facts.own)
  const forbidden = new Set<string>()
  const lines = [set].flat().map((line) =>
    String(line)
      .split(',')
      .map((text) => (text.trim() === '' ? text : mergeOne(text, own, facts, forbidden)))
      .join(','),
  )
  const [only = ''] = lines
  return { value: lines.length === 1 ? only : lines, forbidden: [...forbidden] }
}

/** Whether a document may be shared by caches under a policy that was set before. */
export function allowsSharing(set: HeaderValue | undefined): boolean {
  return set === undefined || !PRIVATE_POLICY.test([set].flat().join())
}

function readPolicy(text: string): Policy {
  const texts = text.split(';')
  const directives: Policy['directives'] = new Map()
  for (const [at, directive] of texts.entries()) {
    const [name = '', ...sources] = directive.trim().split(/[\t\n\f\r ]+/)
    const lower = name.toLowerCase()
    if (lower !== '' && !directives.has(lower)) directives.set(lower, { at, sources })
  }
  return { texts, directives }
}

function mergeOne(text: string, own: Policy, facts: PolicyFacts, forbidden: Set<string>): string {
  const policy = readPolicy(text)
  const scripts = own.directives.get('script-src')?.sources
  const nonces = scripts?.filter((source) => /^'nonce-/i.test(source)) ?? []
  // Caches send a page without a nonce to other visitors: nothing in it may depend on the `Host` of this one.
  const isShared = nonces.length === 0
  const host = isShared ? '' : facts.host
  const place = isShared ? "'self'" : facts.host + facts.assetsPath
  const hashes = (sources: readonly string[] = []): string[] =>
    sources.filter((source) => EXACT.test(source) && !nonces.includes(source))
  if (scripts !== undefined) {
    add(policy, 'script-src', { sources: [...nonces, ...hashes(scripts)], place, files: isShared }, { ...facts, host })
  }
  const styles = own.directives.get('style-src')?.sources
  add(policy, 'style-src', { sources: [...nonces, ...hashes(styles)], place, files: false }, { ...facts, host })
  for (const need of lacks(policy, own, facts)) forbidden.add(need)
  return policy.texts.join(';')
}

/** Without a directive, everything is allowed. */
function add(policy: Policy, name: 'script-src' | 'style-src', added: Added, facts: PolicyFacts): void {
  const { directives, texts } = policy
  const present = [`${name}-elem`, name].filter((other) => directives.has(other))
  const base = directives.get('default-src')?.sources
  if (present.length === 0 && base !== undefined) {
    const sources = join(base, added, facts)
    if (sources === base) return
    const written = `${name} ${sources.join(' ')}`
    // Behind a semicolon at the end there is an empty directive.
    if (texts.at(-1)?.trim() === '') texts[texts.length - 1] = written
    else texts.push(` ${written}`)
    directives.set(name, { at: texts.length - 1, sources })
  }
  for (const other of present) {
    const { at, sources: given } = directives.get(other) ?? { at: -1, sources: [] }
    const sources = join(given, added, facts)
    if (sources === given) continue
    const spelled = /[^\t\n\f\r ]+/.exec(texts[at] ?? '')
    texts[at] = `${texts[at]?.slice(0, spelled?.index) ?? ''}${spelled?.[0] ?? other} ${sources.join(' ')}`
    directives.set(other, { at, sources })
  }
}

/** @returns the same list if nothing has to be added. */
function join(given: readonly string[], { sources, place, files }: Added, facts: PolicyFacts): readonly string[] {
  // A nonce would make browsers ignore `'unsafe-inline'`, which allows all that is inline.
  const isLoose = allowsInline(given)
  const wanted = isLoose ? [] : sources.filter((source) => !given.includes(source))
  const byPlace = (files || isLoose) && !covers(given, "'self'", facts) ? [place] : []
  if (wanted.length + byPlace.length === 0) return given
  // `'none'` counts only where it is alone.
  return [...given.filter((source) => source.toLowerCase() !== "'none'"), ...byPlace, ...wanted]
}

function allowsInline(sources: readonly string[]): boolean {
  return sources.some((source) => source.toLowerCase() === LOOSE) && !sources.some((source) => NOT_LOOSE.test(source))
}

function sourcesFor({ directives }: Policy, name: string): readonly string[] | undefined {
  for (const other of [name, ...(FALLBACKS[name] ?? ['default-src'])]) {
    const found = directives.get(other)
    if (found !== undefined) return found.sources
  }
  return undefined
}

/** What a page may need by its own policy, and this one forbids. */
function lacks(policy: Policy, own: Policy, facts: PolicyFacts): string[] {
  if (!own.directives.has('script-src')) return []
  const needs: [name: string, source: string][] = [['style-src-elem', "'self'"]]
  for (const name of CHECKED) {
    const sources = own.directives.get(name)?.sources ?? (BY_DEFAULT.includes(name as never) ? ["'self'"] : [])
    for (const source of sources) needs.push([name, source])
  }
  const missing = needs.flatMap(([name, source]) => {
    const allowed = sourcesFor(policy, name)
    return allowed === undefined || covers(allowed, source, facts) ? [] : `${name} ${source}`
  })
  const attributes = sourcesFor(policy, 'style-src-attr')
  if (attributes !== undefined && !allowsInline(attributes)) missing.push(`style-src-attr ${LOOSE}`)
  const { directives } = policy
  if (directives.has('require-trusted-types-for') && !own.directives.has('require-trusted-types-for')) {
    missing.push('require-trusted-types-for')
  }
  if (directives.has('upgrade-insecure-requests') && !facts.secure && !LOCAL.test(facts.host)) {
    missing.push('upgrade-insecure-requests')
  }
  const sandbox = directives.get('sandbox')?.sources
  if (sandbox !== undefined)
    missing.push(...UNSANDBOXED.flatMap((flag) => (sandbox.includes(flag) ? [] : `sandbox ${flag}`)))
  return missing
}

/** Whether a list allows a source: as it is written, or by a star, a scheme or a host that contains it. */
function covers(list: readonly string[], source: string, { host, secure }: PolicyFacts): boolean {
  const isSite = source === "'self'"
  const url = isSite ? `${secure ? 'https' : 'http'}://${host}` : source
  return list.some((text) => {
    const entry = text.toLowerCase()
    // A script that runs may start workers.
    if (entry === source || entry === url || (isSite && entry === "'strict-dynamic'")) return true
    if (!/^(?:https?|wss?):\/\//.test(url)) return false
    if (entry === '*' || url.startsWith(`${entry}//`)) return true
    const [, named = ''] = /^(?:(?:https?|wss?):\/\/)?([^/']+)\/?$/.exec(entry) ?? []
    const other = url.slice(url.indexOf('//') + 2)
    return named.startsWith('*.') ? other.endsWith(named.slice(1)) : isSite && named !== '' && named === other
  })
}
