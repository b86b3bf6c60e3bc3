import {
  HAND_OFF_ELEMENT_ID,
  HAND_OFF_GLOBAL,
  HAND_OFF_VERSION,
  type HandOffState,
  type HandOffValues,
} from '../../shared/protocol/hand-off.ts'
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
  const text = document.getElementById(HAND_OFF_ELEMENT_ID)?.textContent
  if (!text) return undefined
  const state = JSON.parse(text) as HandOffState
  if (state.v !== HAND_OFF_VERSION) return undefined
  return { state, values: state.values ?? readLateValues() }
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
        if (open) controller.error(new Error('The document ended before its data'))
        open = false
      }
      if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', onParsed, { once: true })
      else if (open) onParsed()
    },
  })
}
