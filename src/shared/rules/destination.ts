/**
 * The `destination` of a redirect or rewrite. Text captured from the path is inserted unchanged, never encoded again;
 * captures of conditions are plain text and are encoded. A param without a capture removes its segment.
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

/** A compiled destination. */
export interface Destination {
  /** Absent for a destination on this site. */
  readonly host: HostTemplate | undefined
  readonly path: readonly Token[]
  readonly query: readonly QueryTemplate[]
  readonly hash: TextTemplate
  /** The params used in path, host or hash; if one of them is captured, a rewrite does not append captures. */
  readonly placed: ReadonlySet<string>
}

interface QueryTemplate {
  readonly key: string
  readonly value: TextTemplate
  readonly pair: QueryPair
}

/** Why a request's captures do not fit a destination. */
export type DestinationFault =
  /** A list was captured for a param without a star: the table's fault. */
  | 'multi-match-needs-star'
  /** A capture is not a host label: the request's fault. */
  | 'bad-host-value'
  /** A capture would leave the path of another origin by `..`, or hides a slash from middleware: the request's fault. */
  | 'bad-path-value'
  /** The finished text is not a URL that a Location may contain. */
  | 'unsafe-location'

/** A filled destination, part by part. */
interface FilledDestination {
  /** `''`, or scheme and authority of another origin. */
  readonly origin: string
  /** Begins with a slash; ASCII; slashes not repeated. */
  readonly pathname: string
  /** The parts of the path that the request has chosen. */
  readonly chosen: string
  /** The request's pairs, except those that the destination replaces, then its own. */
  readonly query: readonly QueryPair[]
  /** `''`, or the hash with its `#`. */
  readonly hash: string
  readonly fault?: undefined
}

/**
 * @param names possible captures of the rule.
 * @throws the errors of `refuse`, for a malformed destination or unknown params.
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
    // A backslash escapes pattern characters; any other backslash is a slash, as in browsers.
    tokens = parse(text.replace(/\\(?![(){}:*+?\\])/g, '/'), { delimiter: '/' })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return refuse(
      'destination-unparsable',
      `destination does not parse: ${reason}`,
      'Put a backslash before ( ) { } : * + where they are literal',
    )
  }
  for (const token of tokens) {
    if (typeof token === 'string' || names.has(String(token.name))) continue
    refuseUnknown(typeof token.name === 'string' ? `:${token.name}` : 'a group', refuse)
  }
  return tokens
}

/** A backslash makes the following colon literal, as in a path. */
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
 * @param query of the request.
 * @param appending whether unused captures are appended to the query, as for rewrites.
 */
export function fillDestination(
  destination: Destination,
  captures: Captures,
  query: readonly QueryPair[],
  appending: boolean,
): FilledDestination | { readonly fault: DestinationFault } {
  const host = destination.host && fillHost(destination.host, captures)
  if (destination.host !== undefined && host === undefined) return { fault: 'bad-host-value' }
  const path = fillPath(destination.path, captures)
  const templates = [destination.hash, ...destination.query.map(({ value }) => value)]
  if (path === undefined || templates.some((template) => lacksStar(template, captures))) {
    return { fault: 'multi-match-needs-star' }
  }
  const own = fillQuery(destination, captures, appending)
  const replaced = new Set(own.map(({ key }) => key))
  const hash = fillTemplate(destination.hash, captures, pathParts)
  return {
    origin: host ?? '',
    ...path,
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

/** @returns `undefined` for a list without a star. */
function fillPath(
  tokens: readonly Token[],
  captures: Captures,
): Pick<FilledDestination, 'pathname' | 'chosen'> | undefined {
  let path = ''
  let chosen = ''
  for (const [index, token] of tokens.entries()) {
    if (typeof token === 'string') {
      path += token
      continue
    }
    const capture = captures.get(String(token.name))
    if (capture !== undefined && typeof capture.value !== 'string' && !repeats(token)) return undefined
    const present = capture === undefined ? [] : segmentsOf(capture, token)
    chosen += ` ${present.join(' ')}`
    if (present.length > 0) path += present.map((part) => token.prefix + part + token.suffix).join('')
    else if (!endsSegment(tokens[index + 1])) path += token.prefix
  }
  return { pathname: escapeUrlText(`/${path}`.replace(/[\\/]+/g, '/')), chosen }
}

/** Plain text may span segments if the destination repeats, as a list does; its slashes are encoded here. */
function segmentsOf(capture: Capture, token: Key): readonly string[] {
  const parts = pathParts(capture)
  const segments = repeats(token) && !capture.encoded ? parts.flatMap((part) => part.split('%2F')) : parts
  return segments.filter((segment) => segment !== '')
}

function repeats({ modifier }: Key): boolean {
  return modifier === '*' || modifier === '+'
}

/** Whether the preceding token was a whole segment, which is removed with it. */
function endsSegment(next: Token | undefined): boolean {
  return next === undefined || (typeof next === 'string' ? next : next.prefix).startsWith('/')
}
