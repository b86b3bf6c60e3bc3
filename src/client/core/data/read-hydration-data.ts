import {
  HTML_MARK,
  HYDRATION_DATA_GLOBAL,
  HYDRATION_DATA_SELECTOR,
  HYDRATION_DATA_VERSION,
  type HydrationState,
  type HydrationValues,
} from '../../../shared/protocol/hydration-data.ts'
import { ServerFailure } from '../../react/boundaries.tsx'
import { serverFailure } from './server-failures.ts'

/** The state of the document and its values, read once. */
export interface ReadHydrationData {
  readonly state: HydrationState
  readonly values: HydrationValues | Promise<HydrationValues>
}

/**
 * Reads the hydration data of the document.
 * @returns `undefined` for a document without hydration data, or with another version.
 */
export function readHydrationData(document: Document): ReadHydrationData | undefined {
  const state = JSON.parse(document.querySelector(HYDRATION_DATA_SELECTOR)?.textContent || '{}') as HydrationState
  if (state.v !== HYDRATION_DATA_VERSION) return undefined
  return { state, values: state.values ?? readLateValues(state.chunks) }
}

/** A list of chunks at first, then an object that takes them. */
interface LateChunks {
  push(chunk: string | null): void
  forEach?(take: (chunk: string | null) => void): void
}

/** The values that inline scripts push while the document is still loading. */
async function readLateValues(chunks: HydrationState['chunks']): Promise<HydrationValues> {
  const { receiveValues } = await import('../../../shared/protocol/decode-values.ts')
  const { values, push, fail } = receiveValues<HydrationValues>(
    serverFailure,
    (mark) => document.querySelector(`[${HTML_MARK}="${mark}"]`)?.innerHTML,
  )
  const global = self as { [HYDRATION_DATA_GLOBAL]?: LateChunks }
  chunks?.forEach(push)
  global[HYDRATION_DATA_GLOBAL]?.forEach?.(push)
  global[HYDRATION_DATA_GLOBAL] = { push }
  // An interrupted document leaves values that never arrive.
  const onParsed = (): void => fail(new ServerFailure())
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', onParsed)
  else onParsed()
  return values
}
