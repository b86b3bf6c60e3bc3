/**
 * Validates route tables. For the build and the server's start only: the browser gets a validated table, and does not
 * need the messages.
 */
import type { RouteDefinitions, SegmentDefinition } from './route-definition.ts'
import { chainOf } from './route-chain.ts'
import { checkShared } from './route-cache-faults.ts'
import { checkShells } from './route-shell-faults.ts'
import { checkLists } from './route-list-faults.ts'
import type { ParsedPattern, PatternSegment } from './route-pattern.ts'
import { parseValidPattern } from './route-pattern-faults.ts'
import { RouteTableError } from './route-table-error.ts'

const MEMBERS: Readonly<Record<keyof SegmentDefinition, true>> = {
  params: true,
  linked: true,
  cache: true,
  variants: true,
  shell: true,
  guard: true,
  layout: true,
  layoutLoader: true,
  page: true,
  loader: true,
  handler: true,
  loading: true,
  error: true,
  notFound: true,
  forbidden: true,
  unauthorized: true,
}

/**
 * Validates a whole table: every pattern, the modules of each entry, and conflicts between entries.
 * @throws {RouteTableError} for the first fault.
 */
export function validateRouteTable(definitions: RouteDefinitions): void {
  const entries: ParsedPattern[] = []
  const routes: ParsedPattern[] = []
  for (const [key, definition] of Object.entries(definitions)) {
    const pattern = parseValidPattern(key)
    entries.push(pattern)
    const stranger = Object.keys(definition).find((member) => !Object.hasOwn(MEMBERS, member))
    if (stranger !== undefined) {
      throw new RouteTableError(
        'unknown-member',
        [key],
        `an entry has no member '${stranger}', and an unknown member would silently do nothing`,
        `Write one of ${Object.keys(MEMBERS).join(', ')}`,
      )
    }
    if (definition.page && definition.handler) {
      throw new RouteTableError(
        'page-and-handler',
        [key],
        'an entry has a page or a handler, not both, because one URL gives one kind of answer',
        'Move the handler to a path of its own',
      )
    }
    if (definition.loader && !definition.page) {
      throw new RouteTableError(
        'loader-without-page',
        [key],
        '`loader` is for the page, but there is none',
        'Add the page, or write `layoutLoader` for the data of the layout',
      )
    }
    if (definition.layoutLoader && !definition.layout) {
      throw new RouteTableError(
        'layout-loader-without-layout',
        [key],
        '`layoutLoader` is for the layout, but there is none',
        'Add the layout, or write `loader` for the data of the page',
      )
    }
    if (definition.page || definition.handler) routes.push(pattern)
  }
  const answering = answeringKeys(definitions)
  checkGuards(definitions, answering)
  checkShared(definitions)
  checkShells(definitions)
  checkRoutes(routes)
  // Entries without a URL count too: a layout on '/[a]' would silently miss the pages on '/[b]/x'.
  checkNames(entries)
  checkLists(definitions, answering)
}

/** Keys of the entries with a page or a handler at or below them. */
function answeringKeys(definitions: RouteDefinitions): ReadonlySet<string> {
  const keys = new Set<string>()
  for (const [key, { page, handler }] of Object.entries(definitions)) {
    if (page || handler) for (const entry of chainOf(definitions, key)) keys.add(entry.key)
  }
  return keys
}

/** A guard applies by keys, as layouts do: one on '/admin' would silently miss the pages on '/(site)/admin/users'. */
function checkGuards(definitions: RouteDefinitions, answering: ReadonlySet<string>): void {
  for (const [key, { guard }] of Object.entries(definitions)) {
    if (!guard || answering.has(key)) continue
    throw new RouteTableError(
      'guard-without-route',
      [key],
      'it has a guard, and neither it nor an entry below it has a page or a handler. Entries below it begin with its key, groups included',
      'Write the guard on the entry whose key the guarded ones begin with',
    )
  }
}

function checkRoutes(routes: readonly ParsedPattern[]): void {
  const byShape = new Map<string, ParsedPattern>()
  for (const route of routes) {
    const shape = shapeOf(route.segments)
    const other = byShape.get(shape)
    if (other !== undefined) {
      throw new RouteTableError(
        'ambiguous',
        [other.source, route.source],
        'both answer exactly the same URLs, because neither the names of params nor groups are part of a URL',
        'Remove one of them, or distinguish them by a static segment',
      )
    }
    byShape.set(shape, route)
  }
  checkNames(routes)
  for (const route of routes) {
    if (route.segments.at(-1)?.kind === 'optionalCatchAll') checkOptionalCatchAll(route, byShape)
  }
}

/** Requires one param name for each position of the table, whatever is below it. */
function checkNames(patterns: readonly ParsedPattern[]): void {
  const owners = new Map<string, { readonly name: string; readonly pattern: ParsedPattern }>()
  for (const pattern of patterns) {
    for (const [index, segment] of pattern.segments.entries()) {
      if (segment.kind === 'static') continue
      const position = shapeOf(pattern.segments.slice(0, index + 1))
      const owner = owners.get(position)
      if (owner === undefined) {
        owners.set(position, { name: segment.name, pattern })
      } else if (owner.name !== segment.name) {
        throw new RouteTableError(
          'different-slug-names',
          [owner.pattern.source, pattern.source],
          `they name the same position '${owner.name}' and '${segment.name}', and a position has one name`,
          'Rename one of the two params',
        )
      }
    }
  }
}

function checkOptionalCatchAll(route: ParsedPattern, byShape: ReadonlyMap<string, ParsedPattern>): void {
  const base = route.segments.slice(0, -1)
  const required = byShape.get(shapeOf([...base, { kind: 'catchAll', name: '' }]))
  if (required !== undefined) {
    throw new RouteTableError(
      'two-catch-alls',
      [required.source, route.source],
      'both kinds of catch-all are at one level, and they answer the same URLs',
      'Keep the optional one, which also answers the path above it, or the other',
    )
  }
  const page = byShape.get(shapeOf(base))
  if (page !== undefined) {
    throw new RouteTableError(
      'optional-catch-all-conflict',
      [page.source, route.source],
      'an optional catch-all also answers the path above it, which the other one has',
      'Remove the other, or make the catch-all a required one, [...name]',
    )
  }
}

/** Equal for patterns that differ only in the names of params. */
function shapeOf(segments: readonly PatternSegment[]): string {
  return JSON.stringify(segments.map((segment) => (segment.kind === 'static' ? segment.text : [segment.kind])))
}
