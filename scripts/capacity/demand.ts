import type { RequestKind } from './costs.ts'

/** How visitors behave. Each number is an assumption: replace it by what you know of yours. */
export interface Behaviour {
  /** People who have a page open. */
  readonly visitors: number
  /** Seconds from one page to the next. */
  readonly secondsPerPage: number
  /** Share of page views that are documents; the rest are navigations of the client router. */
  readonly documentShare: number
  /** Shares of light, content and heavy pages among documents; together 1. */
  readonly mix: Readonly<Record<'light document' | 'content document' | 'heavy document', number>>
  /** Prefetches of route data per page view. */
  readonly prefetchesPerPage: number
  /** Share of navigations whose data is already prefetched. */
  readonly prefetchHits: number
  /** Average number of a document's files that the browser does not have yet. */
  readonly assetsPerDocument: number
  /** Share of files that never reach an instance, because a proxy or CDN has them. */
  readonly assetsInFront: number
  /** Share of documents that a shared cache answers: 0 unless a loader allows it. */
  readonly documentsInFront: number
}

/** A site of pages that people read. */
export const READERS: Behaviour = {
  visitors: 100_000,
  secondsPerPage: 20,
  documentShare: 0.35,
  mix: { 'light document': 0.3, 'content document': 0.6, 'heavy document': 0.1 },
  prefetchesPerPage: 2,
  prefetchHits: 0.6,
  assetsPerDocument: 6,
  assetsInFront: 0.98,
  documentsInFront: 0,
}

/** Requests per second that reach the instances, by kind. */
export type Demand = Readonly<Record<Exclude<RequestKind, 'refusal'>, number>>

/** The load that such visitors put on all instances together. */
export function demandOf(behaviour: Behaviour): Demand {
  const { visitors, secondsPerPage, documentShare, mix, prefetchesPerPage, prefetchHits } = behaviour
  const pages = visitors / secondsPerPage
  const documents = pages * documentShare
  const rendered = documents * (1 - behaviour.documentsInFront)
  const navigations = pages - documents
  return {
    'light document': rendered * mix['light document'],
    'content document': rendered * mix['content document'],
    'heavy document': rendered * mix['heavy document'],
    'route data': navigations * (1 - prefetchHits) + pages * prefetchesPerPage,
    asset: documents * behaviour.assetsPerDocument * (1 - behaviour.assetsInFront),
  }
}
