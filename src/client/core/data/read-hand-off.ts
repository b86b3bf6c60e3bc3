import {
  HAND_OFF_GLOBAL,
  HAND_OFF_SELECTOR,
  HAND_OFF_VERSION,
  type HandOffState,
  type HandOffValues,
} from '../../../shared/protocol/hand-off.ts'
import { ServerFailure } from '../../react/boundaries.tsx'
import { serverFailure } from './server-failures.ts'

/** The state of the document and its values, read once. */
export interface ReadHandOff {
  readonly state: HandOffState
  readonly values: HandOffValues | Promise<HandOffValues>
}

/**
 * Reads what the server left in the document.
 * @returns `undefined` for a document without a hand-off, or one of another version.
 */
export function readHandOff(document: Document): ReadHandOff | undefined {
  const state = JSON.parse(document.querySelector(HAND_OFF_SELECTOR)?.textContent || '{}') as HandOffState
  if (state.v !== HAND_OFF_VERSION) return undefined
  return { state, values: state.values ?? readLateValues() }
}

/** A list of chunks at first, then whatever takes them. */
interface LateChunks {
  push(chunk: string | null): void
  forEach?(take: (chunk: string | null) => void): void
}

/** The values that inline scripts push while the document is still loading. */
async function readLateValues(): Promise<HandOffValues> {
  const { receiveValues } = await import('../../../shared/protocol/decode-values.ts')
  const { values, push, fail } = receiveValues<HandOffValues>(serverFailure)
  const global = globalThis as { [HAND_OFF_GLOBAL]?: LateChunks }
  global[HAND_OFF_GLOBAL]?.forEach?.(push)
  global[HAND_OFF_GLOBAL] = { push }
  // A document that breaks off leaves values that never arrive.
  const onParsed = (): void => fail(new ServerFailure())
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', onParsed)
  else onParsed()
  return values
}
