import { randomUUID } from 'node:crypto'
import type { Event } from '@sentry/node'
import { QUIET_STATUSES } from '../../../shared/reports/is-reportable.ts'
import type { RequestTrace } from '../../request/request-trace.ts'
import type { RequestSpan, TracedAnswer } from '../../request/request-reporter.ts'

/** Whether a request is traced: redirects, refusals, prefetches and aborted requests never are. */
export function isTraced({ prefetch, aborted, untraced, status }: TracedAnswer): boolean {
  return !prefetch && !aborted && !untraced && !QUIET_STATUSES.has(status)
}

/**
 * Makes the transaction of a request from its measurements.
 * @param timeOrigin of the clock, in milliseconds since the epoch.
 */
export function transactionOf(answer: TracedAnswer, timeOrigin: number): Event {
  const { trace, route, status, method, kind, requestId, startedAt, endedAt } = answer
  const { traceId, spanId, parentSpanId, sampling } = trace
  const seconds = (at: number): number => (timeOrigin + at) / 1_000
  return {
    type: 'transaction',
    transaction: `${method} ${route}`,
    transaction_info: { source: 'route' },
    start_timestamp: seconds(startedAt),
    timestamp: seconds(endedAt),
    tags: { request_id: requestId },
    contexts: {
      trace: {
        trace_id: traceId,
        span_id: spanId,
        ...(parentSpanId === undefined ? {} : { parent_span_id: parentSpanId }),
        op: 'http.server',
        origin: 'auto.http.millrace',
        status: status < 400 ? 'ok' : statusName(status),
        data: {
          'http.request.method': method,
          'http.response.status_code': status,
          'http.route': route,
          'millrace.kind': kind,
          'sentry.op': 'http.server',
          'sentry.source': 'route',
        },
      },
      response: { status_code: status },
    },
    spans: answer.spans.map((span) => spanOf(span, trace, seconds, endedAt)) as never,
    sdkProcessingMetadata: { dynamicSamplingContext: { ...sampling, transaction: `${method} ${route}` } },
  }
}

function spanOf(
  { op, name, spanId: own, startedAt, endedAt, status, failure }: RequestSpan,
  { traceId, spanId }: RequestTrace,
  seconds: (at: number) => number,
  over: number,
): Record<string, unknown> {
  return {
    trace_id: traceId,
    span_id: own ?? randomUUID().replaceAll('-', '').slice(16),
    parent_span_id: spanId,
    op,
    description: name,
    origin: 'auto.http.millrace',
    start_timestamp: seconds(startedAt),
    timestamp: seconds(endedAt ?? over),
    data: { 'sentry.op': op, ...(status === undefined ? {} : { 'http.response.status_code': status }) },
    ...outcomeOf(status, failure),
  }
}

function outcomeOf(status: number | undefined, failure: RequestSpan['failure']): { readonly status?: string } {
  if (failure !== undefined) return { status: failure === 'cancelled' ? 'cancelled' : 'internal_error' }
  return status === undefined ? {} : { status: status < 400 ? 'ok' : statusName(status) }
}

/** https://develop.sentry.dev/sdk/data-model/event-payloads/contexts/#trace-context */
function statusName(status: number): string {
  if (status === 429) return 'resource_exhausted'
  if (status === 503) return 'unavailable'
  if (status === 504) return 'deadline_exceeded'
  return status >= 500 ? 'internal_error' : status === 409 ? 'already_exists' : 'invalid_argument'
}
