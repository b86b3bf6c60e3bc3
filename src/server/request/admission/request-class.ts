import type { RequestContext } from '../context.ts'

/**
 * Classes in the order in which load shedding refuses them: prefetches, then data of pages, then documents and action
 * calls.
 */
export const REQUEST_CLASSES = ['prefetch', 'data', 'document'] as const
/** One of `REQUEST_CLASSES`. */
export type RequestClass = (typeof REQUEST_CLASSES)[number]

/** The class of a request for a page. */
export function classOf(context: Pick<RequestContext, 'prefetch' | 'data' | 'action'>): RequestClass {
  if (context.prefetch) return 'prefetch'
  // Somebody waits for an action's effect, and nothing retries it automatically.
  return context.data === undefined || context.action !== undefined ? 'document' : 'data'
}

/** The class that is refused before a class. */
export function classBelow(requestClass: RequestClass): RequestClass {
  return REQUEST_CLASSES[REQUEST_CLASSES.indexOf(requestClass) - 1] ?? 'prefetch'
}
