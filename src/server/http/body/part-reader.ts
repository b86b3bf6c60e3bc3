import type { BodySource } from './body-source.ts'
import { createMultipartParser, type MultipartEvent } from './multipart-parser.ts'
import { readPartHead, type PartHead } from './part-head.ts'

/** Reads a multipart body part by part, on demand. Calls are queued. */
export interface PartReader {
  /**
   * The head of the next part, or `undefined` after the last. The rest of the previous part is read and dropped.
   * @throws {BodyError} for everything that the source, the parser or the head refuses; later calls throw the same
   * error.
   */
  nextPart(): Promise<{ readonly head: PartHead; readonly headBytes: number } | undefined>
  /** The next bytes of this part, or `undefined` at its end. Fails as `nextPart` does. */
  nextData(): Promise<Buffer | undefined>
  /** Stops reading; all calls fail with this error, pending ones included. */
  fail(error: unknown): void
}

/** @param boundary from the `Content-Type`, already checked. */
export function createPartReader(source: BodySource, boundary: string): PartReader {
  const parser = createMultipartParser(boundary)
  let events: Iterator<MultipartEvent, void> | undefined
  let inPart = false
  let failed: { readonly error: unknown } | undefined
  let turn: Promise<unknown> = Promise.resolve()

  function fail(error: unknown): void {
    failed ??= { error }
    source.close(error)
  }

  async function nextEvent(): Promise<MultipartEvent | undefined> {
    for (;;) {
      const step = events?.next()
      if (step?.done === false) return step.value
      const chunk = await source.read()
      if (chunk === undefined) {
        parser.finish()
        return undefined
      }
      events = parser.push(chunk)
    }
  }

  async function readData(): Promise<Buffer | undefined> {
    const event = inPart ? await nextEvent() : undefined
    if (event?.kind === 'data') return event.bytes
    inPart = false
    return undefined
  }

  async function readPart() {
    while (inPart) await readData()
    const event = await nextEvent()
    if (event?.kind !== 'part') return undefined
    inPart = true
    return { head: readPartHead(event.head), headBytes: event.head.length }
  }

  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = turn.then(async () => {
      if (failed !== undefined) throw failed.error
      try {
        return await work()
      } catch (error) {
        fail(error)
        throw error
      }
    })
    turn = result.catch(() => undefined)
    return result
  }

  return { nextPart: () => inTurn(readPart), nextData: () => inTurn(readData), fail }
}
