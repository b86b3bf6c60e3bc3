/** The lists of rules. */
export type RuleKind = 'redirect' | 'rewrite' | 'header'

/** Faults of a rule. */
export type RuleFault =
  | 'rules-not-array'
  | 'rule-not-object'
  | 'unknown-field'
  | 'source-missing'
  | 'source-not-string'
  | 'source-bad-start'
  | 'source-unparsable'
  | 'source-too-long'
  | 'destination-missing'
  | 'destination-not-string'
  | 'destination-bad-start'
  | 'destination-unparsable'
  | 'destination-unnamed-params'
  | 'destination-unknown-params'
  | 'status-code-invalid'
  | 'permanent-not-boolean'
  | 'has-invalid'
  | 'missing-invalid'
  | 'headers-not-array'
  | 'headers-empty'
  | 'header-item-invalid'

/** Place of a rule in the application's table. */
export interface RuleSite {
  /** The kind of its list. */
  readonly for: RuleKind
  /** The list's name in the table, such as `rewrites.beforeFiles`. */
  readonly list: string
  /** Its place in that list, from 0; -1 for the list itself. */
  readonly index: number
}

/** Thrown for a faulty rule when the application is built or started. The message names the rule and the remedy. */
export class RuleError extends Error {
  override readonly name = 'RuleError'
  readonly kind: RuleFault
  /** The kind of the rule's list. */
  readonly for: RuleKind
  /** The rule's place in its list, from 0; -1 if the list itself is at fault. */
  readonly index: number

  /** @param site place of the rule, and its `source` if it has one. */
  constructor(kind: RuleFault, site: RuleSite & { readonly source?: unknown }, broken: string, wayOut: string) {
    const { source } = site
    const place = site.index === -1 ? site.list : `${site.list}[${site.index}]`
    const named = typeof source === 'string' && source !== '' ? ` (source "${abbreviate(source)}")` : ''
    super(`${place}${named}: ${broken}. ${wayOut}.`)
    this.kind = kind
    this.for = site.for
    this.index = site.index
  }
}

/** Throws a `RuleError` for one rule: the fault, then the remedy, both without a full stop. */
export type Refuse = (kind: RuleFault, broken: string, wayOut: string) => never

const LONGEST_NAMED = 120 // characters; a source over the limit has thousands

function abbreviate(text: string): string {
  return text.length > LONGEST_NAMED ? `${text.slice(0, LONGEST_NAMED)}…` : text
}
