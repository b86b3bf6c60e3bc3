import type { RequestContext } from '../context.ts'

/** Who is refused first under load: guesses, then data of pages, then documents and calls of actions. */
export const REQUEST_CLASSES = ['prefetch', 'data', 'document'] as const
/** One of `REQUEST_CLASSES`. */
export type RequestClass = (typeof REQUEST_CLASSES)[number]

/** Tells in which order a request for a page is refused. */
export function classOf(context: Pick<RequestContext, 'prefetch' | 'data' | 'action'>): RequestClass {
  if (context.prefetch) return 'prefetch'
  // Somebody waits for what an action does, and nothing asks again for them.
  return context.data === undefined || context.action !== undefined ? 'document' : 'data'
}

/** The class that is refused before a class. */
export function classBelow(requestClass: RequestClass): RequestClass {
  return REQUEST_CLASSES[REQUEST_CLASSES.indexOf(requestClass) - 1] ?? 'prefetch'
}
