/**
 * Browsers' reports on a Content-Security-Policy, as events of the error service. Two formats: `application/csp-report`
 * (CSP level 2, `report-uri`), an object with `csp-report`; `application/reports+json` (Reporting API, `report-to`), a list
 * of reports with `type` and `body`.
 *
 * Queries and fragments are removed from every URL, because they may contain secrets. Violations by browser extensions
 * are dropped, because they do not concern the site.
 */
import { isRecord } from '../../../shared/reports/json-values.ts'

const CONTENT_TYPES: ReadonlySet<string> = new Set(['application/csp-report', 'application/reports+json'])
/** Per request. */
const MOST_REPORTS = 20
const MOST_CHARACTERS = 300
const FROM_EXTENSION = /^(?:[\w-]+-extension|user-script|sandbox eval code|about|chrome|resource):?/i

/** One violation. */
export interface PolicyViolation {
  /** Of the page, without query. */
  readonly documentUrl: string
  /** The directive that was violated: `script-src-elem`. */
  readonly directive: string
  /** The blocked URL without query, or a keyword: `inline`, `eval`, `trusted-types-sink`. */
  readonly blocked: string
  /** The responsible script, without query, with line and column; `undefined` if unknown. */
  readonly source?: string
  /** The first characters of the code or of the assigned text, if the policy requests them. */
  readonly sample?: string
}

/** Facts about this server for events. */
export interface PolicyEventFacts {
  readonly release: string
  readonly environment: string
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** Whether a content type is that of a browser's report, not of an envelope. */
export function isPolicyReport(contentType: string | undefined): boolean {
  return contentType !== undefined && CONTENT_TYPES.has(contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '')
}

/**
 * Reads the body of a report: each violation once, in the order of the report.
 * @returns `undefined` for an invalid body.
 */
export function readPolicyReport(text: string): readonly PolicyViolation[] | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  const reports = Array.isArray(parsed) ? parsed : [parsed]
  if (!reports.every(isRecord)) return undefined
  const violations = reports.slice(0, MOST_REPORTS).flatMap((report) => {
    const { 'csp-report': old, type, body } = report
    if (isRecord(old)) return violationOf(old, OLD_NAMES)
    return type === 'csp-violation' && isRecord(body) ? violationOf(body, NAMES) : []
  })
  const known = new Map(violations.map((violation) => [JSON.stringify(violation), violation]))
  return [...known.values()]
}

const NAMES = {
  document: 'documentURL',
  directive: 'effectiveDirective',
  blocked: 'blockedURL',
  source: 'sourceFile',
  line: 'lineNumber',
  sample: 'sample',
} as const

const OLD_NAMES: Readonly<Record<keyof typeof NAMES, string>> = {
  document: 'document-uri',
  directive: 'effective-directive',
  blocked: 'blocked-uri',
  source: 'source-file',
  line: 'line-number',
  sample: 'script-sample',
}

function violationOf(
  report: Readonly<Record<string, unknown>>,
  names: Readonly<Record<keyof typeof NAMES, string>>,
): readonly PolicyViolation[] {
  const text = (name: keyof typeof NAMES): string => {
    const value = report[names[name]]
    return typeof value === 'string' ? value : ''
  }
  // Older browsers send the whole directive instead.
  const directive = (text('directive') || stringOf(report['violated-directive'])).split(' ', 1)[0] ?? ''
  if (!/^[a-z-]{1,40}$/.test(directive)) return []
  const [blocked, source] = [withoutQuery(text('blocked')), withoutQuery(text('source'))]
  if (FROM_EXTENSION.test(blocked) || FROM_EXTENSION.test(source)) return []
  const line = report[names.line]
  const sample = text('sample').slice(0, MOST_CHARACTERS)
  return [
    {
      documentUrl: withoutQuery(text('document')),
      directive,
      blocked: blocked || 'inline',
      ...(source === '' ? {} : { source: Number.isInteger(line) ? `${source}:${String(line)}` : source }),
      ...(sample === '' ? {} : { sample }),
    },
  ]
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '').slice(0, MOST_CHARACTERS)
}

/** An envelope with the event of a violation; events with the same directive and source form one issue. */
export function policyEnvelope(violation: PolicyViolation, { release, environment, now }: PolicyEventFacts): Buffer {
  const { documentUrl, directive, blocked, source, sample } = violation
  const event = {
    timestamp: now / 1_000,
    platform: 'javascript',
    level: 'warning',
    logger: 'csp',
    release,
    environment,
    message: `The policy has kept ${blocked} from ${directive}`,
    fingerprint: ['csp', directive, blocked],
    request: { url: documentUrl },
    tags: { directive, blocked },
    extra: { source, sample },
  }
  return Buffer.from(`{}\n{"type":"event"}\n${JSON.stringify(event)}\n`)
}
