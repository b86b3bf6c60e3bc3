import type { Breadcrumb, Event } from '@sentry/react'

/** An address by itself, or behind a method. */
const ADDRESS = /^(?:[A-Z]+ )?(?:https?:\/)?\//
/** Up to the position in a stack, or the end. */
const QUERY_IN_STACK = /[?#]\S*?(?=:\d|[\s)]|$)/g

type Attributes = Readonly<Record<string, unknown>>

/** An address without its query and fragment, which may hold what is nobody's business; any other text as it is. */
export function withoutQuery(text: string): string {
  return ADDRESS.test(text) ? text.replace(/[?#].*/s, '') : text
}

/** A breadcrumb whose addresses have no queries. */
export function crumbWithoutQueries(breadcrumb: Breadcrumb): Breadcrumb {
  const { data } = breadcrumb
  return data === undefined ? breadcrumb : { ...breadcrumb, data: cut(data) }
}

/**
 * Takes the queries out of an event, an error or a transaction: where the page is, which files its stacks name, and what
 * its spans say of scripts and requests. The SDK leaves queries out where it knows of an address, which is not everywhere:
 * scripts inside of the document are named by the page's own. Messages stay as they are.
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
