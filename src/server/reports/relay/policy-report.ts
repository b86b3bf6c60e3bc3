/**
 * Browsers' reports on a Content-Security-Policy, as events of the error service. Two formats: `application/csp-report`
 * (CSP level 2, `report-uri`), an object with `csp-report`; `application/reports+json` (Reporting API, `report-to`), a list
 * of reports with `type` and `body`.
 *
 * Queries and fragments are removed from every URL, because they may contain secrets. Violations by browser extensions
 * are dropped, because they do not concern the site, and directives that are not in the standard, because anybody can
 * send a report. Violations of one directive that concern one origin are alike.
 */
import { isRecord } from '../../../shared/reports/json-values.ts'

const CONTENT_TYPES: ReadonlySet<string> = new Set(['application/csp-report', 'application/reports+json'])
/** Read of one request. A broken page sends a dozen. */
const MOST_REPORTS = 20
const MOST_CHARACTERS = 300
/** Those that can be violated. Source: CSP level 3, Trusted Types, and what older browsers name. */
const DIRECTIVES: ReadonlySet<string> = new Set(
  (
    'base-uri block-all-mixed-content child-src connect-src default-src fenced-frame-src font-src form-action ' +
    'frame-ancestors frame-src img-src manifest-src media-src navigate-to object-src plugin-types prefetch-src ' +
    'report-sample require-sri-for require-trusted-types-for sandbox script-src script-src-attr script-src-elem ' +
    'style-src style-src-attr style-src-elem trusted-types upgrade-insecure-requests webrtc worker-src'
  ).split(' '),
)
/** What is named instead of a blocked URL. Source: CSP level 3, section 5.3; Trusted Types; older browsers. */
const KEYWORDS: ReadonlySet<string> = new Set(
  'inline eval wasm-eval trusted-types-policy trusted-types-sink self'.split(' '),
)
const FROM_EXTENSION = /^(?:[\w-]+-extension|user-script|sandbox eval code|about|chrome|resource):?/i

/** A violation, and those of the same report that are like it. */
interface PolicyViolation {
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
  /** Where the blocked URL leads: its origin, its scheme if it has none, a keyword, or `other`. */
  readonly target: string
  /** How many of the report are alike, this one included. */
  readonly count: number
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
 * Reads the body of a report: of those that are alike the first, in the order of the report.
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
  const alike = new Map<string, PolicyViolation>()
  for (const violation of violations) {
    const group = JSON.stringify(groupOf(violation))
    const first = alike.get(group)
    alike.set(group, first === undefined ? violation : { ...first, count: first.count + 1 })
  }
  return [...alike.values()]
}

function groupOf({ directive, target }: PolicyViolation): readonly string[] {
  return ['csp', directive, target]
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
  if (!DIRECTIVES.has(directive)) return []
  const [blocked, source] = [withoutQuery(text('blocked')), withoutQuery(text('source'))]
  if (FROM_EXTENSION.test(blocked) || FROM_EXTENSION.test(source)) return []
  const line = report[names.line]
  const sample = text('sample').slice(0, MOST_CHARACTERS)
  return [
    {
      documentUrl: withoutQuery(text('document')),
      directive,
      blocked: blocked || 'inline',
      target: targetOf(blocked || 'inline'),
      count: 1,
      ...(source === '' ? {} : { source: Number.isInteger(line) ? `${source}:${String(line)}` : source }),
      ...(sample === '' ? {} : { sample }),
    },
  ]
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Schemes alone are named for blocked URLs such as `data:...`. */
function targetOf(blocked: string): string {
  if (KEYWORDS.has(blocked)) return blocked
  const url = URL.parse(blocked.includes(':') ? blocked : `${blocked}:`)
  if (url === null || !/^(?:https?|wss?|data|blob|filesystem|mediastream):$/.test(url.protocol)) return 'other'
  return url.host === '' ? url.protocol : `${url.protocol}//${url.host}`
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '').slice(0, MOST_CHARACTERS)
}

/** An envelope with the event of a violation; events of the same directive and target form one issue. */
export function policyEnvelope(violation: PolicyViolation, { release, environment, now }: PolicyEventFacts): Buffer {
  const { documentUrl, directive, blocked, source, sample, count } = violation
  const event = {
    timestamp: now / 1_000,
    platform: 'javascript',
    level: 'warning',
    logger: 'csp',
    release,
    environment,
    message: `The policy has kept ${blocked} from ${directive}`,
    fingerprint: groupOf(violation),
    request: { url: documentUrl },
    tags: { directive, blocked },
    extra: { source, sample, count },
  }
  return Buffer.from(`{}\n{"type":"event"}\n${JSON.stringify(event)}\n`)
}
