/**
 * Faults of a route table. Next.js has those from `different-slug-names` to `empty-param-name` as well; the others are
 * possible only because patterns are written by hand and entries name their modules.
 */
export type RouteTableFault =
  | 'different-slug-names'
  | 'ambiguous'
  | 'repeated-slug'
  | 'slug-differs-by-punctuation'
  | 'catch-all-not-last'
  | 'bad-brackets'
  | 'bad-periods'
  | 'ellipsis-character'
  | 'optional-param-unsupported'
  | 'optional-catch-all-conflict'
  | 'two-catch-alls'
  | 'empty-param-name'
  | 'missing-leading-slash'
  | 'trailing-slash'
  | 'empty-segment'
  | 'dot-segment'
  | 'unreachable-character'
  | 'search-in-pattern'
  | 'bad-group'
  | 'reserved-path'
  | 'unknown-member'
  | 'page-and-handler'
  | 'loader-without-page'
  | 'layout-loader-without-layout'
  | 'guard-without-route'
  | 'bad-cache'
  | 'shared-without-page'
  | 'shared-behind-guard'
  | 'bad-variants'
  | 'bad-shell'
  | 'early-without-loader'
  | 'early-and-shared'
  | 'early-behind-guard'
  | 'early-without-loading'
  | 'list-without-param'
  | 'bad-list'
  | 'different-lists'
  | 'list-without-route'

/** Thrown for a faulty route table. The message names the patterns, the rule and the remedy. */
export class RouteTableError extends Error {
  override readonly name = 'RouteTableError'
  /** The rule that is broken. */
  readonly kind: RouteTableFault
  /** The faulty patterns as written in the table, groups included: one, or two that conflict. */
  readonly patterns: readonly string[]

  constructor(kind: RouteTableFault, patterns: readonly string[], rule: string, wayOut: string) {
    super(`Route table: ${patterns.map((pattern) => `'${pattern}'`).join(' and ')}: ${rule}. ${wayOut}.`)
    this.kind = kind
    this.patterns = patterns
  }
}
