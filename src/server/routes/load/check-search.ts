import type { RawSearch } from '../../../shared/raw-search.ts'
import { checkValue, issuePath, type CheckedValue, type Schema, type SchemaIssue } from '../../../shared/schema.ts'
import { normalizeThrown } from '../../request/answer/normalize-thrown.ts'
import type { RequestContext } from '../../request/context.ts'
import { holdsSearch, trackSearch } from '../../values/track-search.ts'
import type { SegmentFacts } from './segment-facts.ts'
import { untilAborted } from './until-aborted.ts'
import { watchPromises } from './watch-promises.ts'

/** The search params of one segment. */
export type SegmentSearch =
  /** Without a schema. */
  | { readonly raw: RawSearch }
  | { readonly parsed: unknown }
  | { readonly issues: readonly SchemaIssue[] }
  /** The schema has failed, as a loader may. */
  | { readonly failed: unknown }

/** Faults of the search params, so that no loader runs; or of a handler's body. */
export interface RefusedInput {
  /** For the log. */
  readonly reason: string
  /** One text per fault, for the visitor. */
  readonly faults: readonly string[]
  /** The same for programs. */
  readonly errors: readonly { readonly path: string; readonly message: string }[]
}

const MOST_FAULTS = 20 // nobody reads more
const MOST_CHARACTERS = 500 // of a path or a message: a schema may repeat each key that it does not know

/**
 * Checks the search params by the schema of one segment.
 * @param facts records which of them the schema reads.
 * @returns a promise only if the schema is asynchronous. It does not reject.
 */
export function checkSearch(
  schema: Schema | undefined,
  raw: RawSearch,
  facts: SegmentFacts,
  context: RequestContext,
): SegmentSearch | Promise<SegmentSearch> {
  if (schema === undefined) return { raw }
  const watched = trackSearch(raw, facts)
  const judge = (checked: CheckedValue): SegmentSearch => {
    if (checked.issues !== undefined) return { issues: checked.issues }
    const parsed = watchPromises(checked.value, context, 'loader')
    // A schema may return its input.
    if (holdsSearch(parsed, watched)) facts.useAll()
    return { parsed }
  }
  try {
    const checked = checkValue(schema, watched)
    if (!(checked instanceof Promise)) return judge(checked)
    return untilAborted(checked, context).then(judge).catch(failed)
  } catch (thrown) {
    return failed(thrown)
  }
}

function failed(thrown: unknown): SegmentSearch {
  return { failed: normalizeThrown(thrown) }
}

/** Search params that the schema of a page or of a handler refuses. */
export function refusedSearch(issues: readonly SchemaIssue[]): RefusedInput {
  return refusedInput(issues, 'search params are not valid')
}

/**
 * For the visitor: a schema may find as many faults as a query or a body has room for, and each text is longer than its
 * cause.
 * @param reason for the log.
 * @param nameOf the name of a member; by default its keys, joined by dots.
 */
export function refusedInput(issues: readonly SchemaIssue[], reason: string, nameOf = joinPath): RefusedInput {
  const errors = issues.slice(0, MOST_FAULTS).map((issue) => ({
    path: shortened(nameOf(issuePath(issue))),
    message: shortened(issue.message),
  }))
  return { reason, errors, faults: errors.map(({ path, message }) => `${path}: ${message}`) }
}

function shortened(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS).toWellFormed()}…`
}

function joinPath(path: readonly PropertyKey[]): string {
  return path.map(String).join('.')
}
