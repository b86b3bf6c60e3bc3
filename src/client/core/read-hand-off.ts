import {
  HAND_OFF_ELEMENT_ID,
  HAND_OFF_GLOBAL,
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
  const text = document.getElementById(HAND_OFF_ELEMENT_ID)?.textContent
  if (!text) return undefined
  const state = JSON.parse(text) as HandOffState
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

interface ChunkList {
  push(chunk: string | null): void
}

/** The chunks that inline scripts push while the document is still coming in, as one stream. */
function lateChunks(): ReadableStream<string> {
  const global = globalThis as { [HAND_OFF_GLOBAL]?: ChunkList | (string | null)[] }
  const early = global[HAND_OFF_GLOBAL]
  return new ReadableStream<string>({
    start(controller) {
      let open = true
      const push = (chunk: string | null): void => {
        if (!open) return
        if (chunk === null) {
          open = false
          controller.close()
        } else controller.enqueue(chunk)
      }
      if (Array.isArray(early)) early.forEach(push)
      global[HAND_OFF_GLOBAL] = { push }
      // A document that breaks off leaves values that will never come.
      const onParsed = (): void => {
        if (open) controller.error(new ServerFailure())
        open = false
      }
      if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', onParsed, { once: true })
      else if (open) onParsed()
    },
  })
}
