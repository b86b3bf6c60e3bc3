import {
  HAND_OFF_GLOBAL,
  HAND_OFF_SELECTOR,
  HAND_OFF_VERSION,
  type HandOffState,
  type HandOffValues,
} from '../../shared/protocol/hand-off.ts'
import { ServerFailure } from '../react/boundaries.tsx'
import { serverFailure } from './server-failures.ts'

const DELIVERY_MS = 10_000 // what the server has written in time may be on its way for as long

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
  if (state.deadline && document.readyState === 'loading') endInTime(document, state.deadline)
  return { state, values: state.values ?? readLateValues() }
}

/**
 * Ends the document for those who wait for the rest of it. Chromium leaves one whose connection was lost loading for ever,
 * and tells of one that was stopped only that it is complete. React waits for an event to render the holes itself.
 */
function endInTime(document: Document, deadline: number): void {
  const onChange = (): void => {
    // A document that is read to its end is interactive first.
    if (document.readyState === 'complete') document.dispatchEvent(new Event('DOMContentLoaded'))
  }
  document.addEventListener('readystatechange', onChange, { once: true })
  setTimeout(() => {
    if (document.readyState === 'loading') window.stop()
  }, deadline + DELIVERY_MS)
}

async function readLateValues(): Promise<HandOffValues> {
  const chunks = lateChunks()
  const { decodeValues } = await import('../../shared/protocol/decode-values.ts')
  return decodeValues(chunks, serverFailure)
}

/** A list of chunks at first, then whatever takes them. */
interface LateChunks {
  push(chunk: string | null): void
  forEach?(take: (chunk: string | null) => void): void
}

/** The chunks that inline scripts push while the document is still coming in, as one stream. */
function lateChunks(): ReadableStream<string> {
  const global = globalThis as { [HAND_OFF_GLOBAL]?: LateChunks }
  return new ReadableStream<string>({
    start(controller) {
      let open = true
      const push = (chunk: string | null): void => {
        if ((open = chunk !== null)) controller.enqueue(chunk)
        else controller.close()
      }
      global[HAND_OFF_GLOBAL]?.forEach?.(push)
      global[HAND_OFF_GLOBAL] = { push }
      // A document that breaks off leaves values that will never come.
      const onParsed = (): void => {
        if (open) controller.error(new ServerFailure())
      }
      if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', onParsed)
      else onParsed()
    },
  })
}
