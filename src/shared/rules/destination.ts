/**
 * The `destination` of a redirect or rewrite. Captured text of the path is written as it was, never encoded again; what
 * conditions captured is plain text and is encoded. A param that was not captured takes its segment with it.
 */
import type { Key, Token } from 'path-to-regexp'
import { parse } from 'path-to-regexp'
import type { Capture, Captures } from './captures.ts'
import type { HostTemplate } from './destination-host.ts'
import type { QueryPair } from './query-pairs.ts'
import type { Refuse } from './rule-error.ts'
import type { TextTemplate } from './text-template.ts'
import { pathParts, plainParts } from './captures.ts'
import { compileHost, fillHost } from './destination-host.ts'
import { parseQuery, queryPair } from './query-pairs.ts'
import { compileTemplate, fillTemplate, isAbsent, lacksStar } from './text-template.ts'
import { escapeUrlText } from '../url-text.ts'

/** A destination, ready to be filled in. */
export interface Destination {
  /** Absent for a destination on this site. */
  readonly host: HostTemplate | undefined
  readonly path: readonly Token[]
  readonly query: readonly QueryTemplate[]
  readonly hash: TextTemplate
  /** The params that path, host or hash use; one that is captured keeps a rewrite from appending captures. */
  readonly placed: ReadonlySet<string>
}

interface QueryTemplate {
  readonly key: string
  readonly value: TextTemplate
  readonly pair: QueryPair
}

/** Why a request's captures do not fit a destination. */
export type DestinationFault =
  /** A list was captured where the destination has no star: the table's fault. */
  | 'multi-match-needs-star'
  /** What was captured is no host label: the request's fault. */
  | 'bad-host-value'
  /** What was captured would climb out of the path of another origin: the request's fault. */
  | 'bad-path-value'
  /** The finished text is no URL that a Location may carry. */
  | 'unsafe-location'

/** A destination filled in, part by part. */
export interface FilledDestination {
  /** `''`, or scheme and authority of another origin. */
  readonly origin: string
  /** Begins with a slash; ASCII; slashes not repeated. */
  readonly pathname: string
  /** The request's pairs that the destination does not replace, then its own. */
  readonly query: readonly QueryPair[]
  /** `''`, or the hash with its `#`. */
  readonly hash: string
  readonly fault?: undefined
}

/**
 * @param names what the rule can capture.
 * @throws whatever `refuse` throws, for a destination of the wrong form or one that uses unknown params.
 */
export function compileDestination(text: string, names: ReadonlySet<string>, refuse: Refuse): Destination {
  const [beforeHash = '', ...hashParts] = text.split('#')
  const queryStart = beforeHash.indexOf('?')
  const location = queryStart === -1 ? beforeHash : beforeHash.slice(0, queryStart)
  const search = queryStart === -1 ? '' : beforeHash.slice(queryStart)
  const hash = compileHash(hashParts.join('#'), names, refuse)

  const [authority = ''] = /^https?:\/\/[^/\\]*/i.exec(location) ?? []
  const host = authority === '' ? undefined : compileHost(authority, names, refuse)
  const path = parsePath(location.slice(authority.length) || '/', names, refuse)
  const params = [...path, ...hash, ...(host?.template ?? [])].flatMap((part) =>
    typeof part === 'object' ? [String(part.name)] : [],
  )
  return {
    host,
    path,
    query: parseQuery(search).map((pair) => ({ key: pair.key, value: compileTemplate(pair.value, names), pair })),
    hash,
    placed: new Set(params),
  }
}

function parsePath(text: string, names: ReadonlySet<string>, refuse: Refuse): readonly Token[] {
  let tokens: readonly Token[]
  try {
    // A backslash quotes what would mean something in a pattern; any other one is a slash, as browsers take it.
    tokens = parse(text.replace(/\\(?![(){}:*+?\\])/g, '/'), { delimiter: '/' })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return refuse(
      'destination-unparsable',
      `destination does not parse: ${reason}`,
      'Put a backslash before ( ) { } : * + where they are meant literally',
    )
  }
  for (const token of tokens) {
    if (typeof token === 'string' || names.has(String(token.name))) continue
    refuseUnknown(typeof token.name === 'string' ? `:${token.name}` : 'a group', refuse)
  }
  return tokens
}

/** A backslash before a colon makes it one, as in a path. */
function compileHash(text: string, names: ReadonlySet<string>, refuse: Refuse): TextTemplate {
  for (const [, name = ''] of text.matchAll(/(?<!\\):(\w+)/g)) if (!names.has(name)) refuseUnknown(`:${name}`, refuse)
  return compileTemplate(text, names)
}

function refuseUnknown(param: string, refuse: Refuse): never {
  return refuse(
    'destination-unknown-params',
    `destination uses ${param}, which neither source nor has captures`,
    'Capture it under that name or take it out; a colon that is meant literally has a backslash before it',
  )
}

/**
 * @param query the request's.
 * @param appending whether captures that the destination does not place are appended to the query, as rewrites do.
 */
export function fillDestination(
  destination: Destination,
  captures: Captures,
  query: readonly QueryPair[],
  appending: boolean,
): FilledDestination | { readonly fault: DestinationFault } {
  const host = destination.host && fillHost(destination.host, captures)
  if (destination.host !== undefined && host === undefined) return { fault: 'bad-host-value' }
  const pathname = fillPath(destination.path, captures)
  const templates = [destination.hash, ...destination.query.map(({ value }) => value)]
  if (pathname === undefined || templates.some((template) => lacksStar(template, captures))) {
    return { fault: 'multi-match-needs-star' }
  }
  const own = fillQuery(destination, captures, appending)
  const replaced = new Set(own.map(({ key }) => key))
  const hash = fillTemplate(destination.hash, captures, pathParts)
  return {
    origin: host ?? '',
    pathname,
    query: [...query.filter(({ key }) => !replaced.has(key)), ...own],
    hash: hash === '' ? '' : `#${escapeUrlText(hash)}`,
  }
}

function fillQuery(destination: Destination, captures: Captures, appending: boolean): readonly QueryPair[] {
  const pairs: QueryPair[] = []
  for (const { key, value, pair } of destination.query) {
    if (value.every((part) => typeof part === 'string')) pairs.push(pair)
    else if (!isAbsent(value, captures)) pairs.push(queryPair(key, fillTemplate(value, captures, plainParts)))
  }
  if (!appending || [...captures.keys()].some((name) => destination.placed.has(name))) return pairs
  const written = new Set(destination.query.map(({ key }) => key))
  for (const [name, capture] of captures) {
    if (!written.has(name)) pairs.push(...plainParts(capture).map((value) => queryPair(name, value)))
  }
  return pairs
}

/** @returns `undefined` where a list stands without a star. */
function fillPath(tokens: readonly Token[], captures: Captures): string | undefined {
  let path = ''
  for (const [index, token] of tokens.entries()) {
    if (typeof token === 'string') {
      path += token
      continue
    }
    const capture = captures.get(String(token.name))
    if (capture !== undefined && typeof capture.value !== 'string' && !repeats(token)) return undefined
    const present = capture === undefined ? [] : segmentsOf(capture, token)
    if (present.length > 0) path += present.map((part) => token.prefix + part + token.suffix).join('')
    else if (!endsSegment(tokens[index + 1])) path += token.prefix
  }
  return escapeUrlText(`/${path}`.replace(/[\\/]+/g, '/'))
}

/** Plain text may span segments where the destination repeats, as a list does; its slashes come here encoded. */
function segmentsOf(capture: Capture, token: Key): readonly string[] {
  const parts = pathParts(capture)
  const segments = repeats(token) && !capture.encoded ? parts.flatMap((part) => part.split('%2F')) : parts
  return segments.filter((segment) => segment !== '')
}

function repeats({ modifier }: Key): boolean {
  return modifier === '*' || modifier === '+'
}

/** Whether the token before stood for a whole segment, which goes with it. */
function endsSegment(next: Token | undefined): boolean {
  return next === undefined || (typeof next === 'string' ? next : next.prefix).startsWith('/')
}
