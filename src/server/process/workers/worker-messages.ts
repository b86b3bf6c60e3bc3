import type { MetricValues } from '../metrics/merge-metrics.ts'

/** A drop; a message with the same number reports its end. */
interface AskedDrop {
  readonly asked: number
  readonly targets: readonly string[]
  /** As in `DropTimes`. */
  readonly at: number
}

/** What a worker tells its primary. */
export type WorkerMessage =
  /** It serves. */
  | { readonly kind: 'ready'; readonly port: number }
  /** It takes no new requests and will end. */
  | { readonly kind: 'leaving' }
  /** It cannot listen; neither could any other worker. */
  | { readonly kind: 'cannot-listen'; readonly message: string }
  /** Its metrics, in answer to `metrics`. */
  | { readonly kind: 'metrics'; readonly asked: number; readonly metrics: readonly MetricValues[] }
  /** All others must drop tags and paths from their caches. */
  | ({ readonly kind: 'revalidate' } & AskedDrop)
  /** It has dropped them. */
  | { readonly kind: 'dropped'; readonly asked: number }

/** What the primary tells a worker. */
export type PrimaryMessage =
  /** Finish answers in flight, and end. */
  | { readonly kind: 'drain' }
  /** End now. */
  | { readonly kind: 'leave' }
  /** Send your metrics. */
  | { readonly kind: 'metrics'; readonly asked: number }
  /** Drop tags and paths from your caches. */
  | ({ readonly kind: 'drop' } & AskedDrop)
  /** The others have dropped the targets, or did not answer in time. */
  | { readonly kind: 'revalidated'; readonly asked: number }
