import type { Breadcrumb, Event } from '@sentry/react'

/** A URL or path, optionally after a method. */
const ADDRESS = /^(?:[A-Z]+ )?(?:https?:\/)?\//
/** Up to the position in a stack, or the end. */
const QUERY_IN_STACK = /[?#]\S*?(?=:\d|[\s)]|$)/g

type Attributes = Readonly<Record<string, unknown>>

/** A URL without its query and fragment, which may contain private data; any other text unchanged. */
function withoutQuery(text: string): string {
  return ADDRESS.test(text) ? text.replace(/[?#].*/s, '') : text
}

/** A breadcrumb without queries in its URLs. */
export function crumbWithoutQueries(breadcrumb: Breadcrumb): Breadcrumb {
  const { data } = breadcrumb
  return data === undefined ? breadcrumb : { ...breadcrumb, data: cut(data) }
}

/**
 * Removes the queries from an event, an error or a transaction: in the page's URL, in the files of stacks, and in spans
 * of scripts and requests. The SDK removes some queries, but not all: inline scripts are named by the page's URL.
 * Messages are unchanged.
 */
export function eventWithoutQueries<Reported extends Event>(event: Reported): Reported {
  const { request, exception, spans } = event
  if (request?.url !== undefined) request.url = withoutQuery(request.url)
  for (const { stacktrace } of exception?.values ?? []) {
    for (const frame of stacktrace?.frames ?? []) {
      if (frame.filename !== undefined) frame.filename = withoutQuery(frame.filename)
    }
  }
  const { trace, react } = event.contexts ?? {}
  if (trace?.data !== undefined) trace.data = cut(trace.data)
  const stack = react?.['componentStack']
  if (react !== undefined && typeof stack === 'string') react['componentStack'] = stack.replace(QUERY_IN_STACK, '')
  for (const span of spans ?? []) {
    span.data = cut(span.data) as typeof span.data
    if (span.description !== undefined) span.description = withoutQuery(span.description)
  }
  return event
}

function cut(attributes: Attributes): Record<string, unknown> {
  const entries = Object.entries(attributes)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? withoutQuery(value) : value]),
  )
}
