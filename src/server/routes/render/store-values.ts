import { createValueDecoder } from '../../../shared/protocol/decode-values.ts'
import { isJsonValue } from '../../../shared/protocol/hydration-data.ts'
import { createFrameWriter, type Frame, type HtmlForm } from '../../../shared/protocol/value-frames.ts'
import { freezeValues } from '../../values/freeze-values.ts'
import type { StoredPage, StoredValues } from '../../stores/cache/stored-shell.ts'

/** Values of a page for everybody, and their text for hydration. */
interface WrittenValues {
  readonly values: StoredValues
  /** Frames of the value stream for browsers; the promises of the slots, and that of the late facts, are open. */
  readonly chunks: readonly string[]
}

/**
 * Writes the values of a page for everybody. Deferred values are awaited, except those of the slots.
 * @param slots the promise of what belongs to the visitor, by the id of the segment that has it.
 * @param formOf how browsers get HTML, whose text may be in the document. Default: with its text.
 * @returns rejects with the reason of a deferred value.
 */
export async function storeValues(
  page: StoredPage,
  slots: ReadonlyMap<string, Promise<unknown>>,
  formOf?: HtmlForm,
): Promise<WrittenValues> {
  const late = new Promise<never>(() => undefined)
  const frameOf = createFrameWriter(0, formOf)
  const plainOf = formOf && createFrameWriter()
  const chunks: string[] = []
  const texts: string[] = []
  const numbers = new Map<string, number>()
  let next = 0
  let lateFacts = 0
  const take = (start: string, value: unknown): Promise<unknown> => {
    const frame: Frame = frameOf(start, value)
    chunks.push(frame.text)
    texts.push(plainOf?.(start, value).text ?? frame.text)
    next = frame.next
    return Promise.all(
      frame.promises.map(async ([number, promise]) => {
        if (promise === late) return void (lateFacts = number)
        const slot = [...slots].find(([, one]) => one === promise)
        if (slot === undefined) await take(`${number},1,`, await promise)
        else numbers.set(slot[0], number)
      }),
    )
  }
  await take('', { ...page, late })
  const text = texts.join('')
  const shared = decode(text)
  await Promise.all(freezeValues(shared))
  const read = isJsonValue(shared) ? readerOf(shared) : freshReader(text)
  return { values: { slots: numbers, late: lateFacts, next, bytes: text.length, read }, chunks }
}

function readerOf(shared: StoredPage): StoredValues['read'] {
  return () => shared
}

function freshReader(text: string): StoredValues['read'] {
  return async () => {
    const own = decode(text)
    await Promise.all(freezeValues(own))
    return own
  }
}

function decode(text: string): StoredPage {
  const decoded = createValueDecoder().push(text)
  if (decoded === undefined) throw new TypeError('The values have no frame')
  const { search, data } = decoded.value as StoredPage
  const own = Object.entries(data).map(([id, value]) => {
    const { visitor, ...shared } = (value ?? {}) as { visitor?: unknown }
    return [id, visitor instanceof Promise ? shared : value]
  })
  return { search, data: Object.fromEntries(own) }
}
