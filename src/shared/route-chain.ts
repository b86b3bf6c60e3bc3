import type { RouteDefinitions, SegmentDefinition } from './route-definition.ts'

/** One entry of the table. */
export interface SegmentEntry {
  /** The pattern as written in the table, groups included. */
  readonly key: string
  /** Its definition. */
  readonly definition: SegmentDefinition
}

/**
 * The chain of a route: every entry whose key is a prefix of its key, by segment, groups included; root first, the
 * route itself last.
 * @param key as written in the table.
 */
export function chainOf(definitions: RouteDefinitions, key: string): readonly SegmentEntry[] {
  const keys = key.split('/').map((_, at, segments) => segments.slice(0, at + 1).join('/') || '/')
  return [...new Set(keys)].flatMap((prefix) => {
    const definition = definitions[prefix]
    return definition ? [{ key: prefix, definition }] : []
  })
}
