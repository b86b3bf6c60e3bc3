import type { TextStream } from './hydration-data.ts'
import { createFrameWriter, type Frame, type HtmlForm, type OpenPromise } from './value-frames.ts'

/** An `AbortSignal`, whose type this folder does not know. */
export interface AbortSignalLike {
  readonly aborted: boolean
  /** Error of a stream that ends by the signal. */
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/**
 * What the browser learns about a deferred value that has failed, or that cannot be encoded because a getter or a
 * `toJSON` in it throws.
 * @param reason rejection of the promise, or thrown error.
 */
export type PublicReason = (reason: unknown) => unknown

/** The frames of promises. */
export interface LaterFrames {
  /**
   * Follows the promises in the values. Call it once, in the same turn in which the values were encoded.
   * @param emit receives each frame, with its newline.
   * @param signal ends it early; nothing is emitted after that.
   * @returns resolves when all promises are settled, or by the signal; rejects only with errors of `emit` or a
   * `PublicReason`.
   */
  follow(emit: (frame: string) => void, signal: AbortSignalLike): Promise<void>
  /** Rejects all open promises, and those still to be found, with this reason: `follow` emits that and resolves. */
  giveUp(reason: unknown): void
}

/** Encoded values: the first frame, and the frames of promises. */
interface EncodedValues extends LaterFrames {
  /** The first frame, with its newline. */
  readonly root: string
}

/** The browser learns only that there was an error. */
const withoutReason: PublicReason = () => new Error('Redacted')

/**
 * Encodes values for `createValueDecoder`; `value-stream.ts` describes the format. Functions and unregistered symbols
 * become `undefined`; an instance of a class becomes the result of its `toJSON`, or an object of its own properties.
 * @param publicReason called for each rejection, wherever the promise is; the browser sees only its result.
 * @param formOf as in `createFrameWriter`.
 * @throws errors of a getter or a `toJSON` of the values.
 */
export function createValueEncoder(
  values: unknown,
  publicReason: PublicReason = withoutReason,
  formOf?: HtmlForm,
): EncodedValues {
  const frameOf = createFrameWriter(0, formOf)
  const root = frameOf('', values)
  return { root: root.text, ...laterFrames(frameOf, root.promises, publicReason) }
}

/**
 * Continues a stream that another encoder has begun, and left promises open in.
 * @param open promises in the stream so far.
 * @param before its nodes.
 */
export function continueValues(
  open: readonly OpenPromise[],
  before: number,
  publicReason: PublicReason = withoutReason,
  formOf?: HtmlForm,
): LaterFrames {
  return laterFrames(createFrameWriter(before, formOf), open, publicReason)
}

function laterFrames(
  frameOf: ReturnType<typeof createFrameWriter>,
  found: readonly OpenPromise[],
  publicReason: PublicReason,
): LaterFrames {
  function settlement(number: number, kept: boolean, value: unknown): Frame {
    let reason = value
    if (kept) {
      try {
        return frameOf(`${number},1,`, value)
      } catch (thrown) {
        reason = thrown
      }
    }
    return frameOf(`${number},0,`, publicReason(reason))
  }

  let giveUp: (reason: unknown) => void = () => undefined
  return {
    giveUp: (reason) => giveUp(reason),
    follow: (emit, signal) =>
      new Promise((resolve, reject) => {
        const state = { open: new Set<number>(), over: false, givenUp: undefined as { reason: unknown } | undefined }
        const finish = (): void => {
          state.over = true
          signal.removeEventListener('abort', finish)
          resolve()
        }
        const settle = (number: number, kept: boolean, value: unknown): void => {
          if (state.over || !state.open.has(number)) return
          try {
            const frame = settlement(number, kept, value)
            emit(frame.text)
            state.open.delete(number)
            watch(frame.promises)
          } catch (thrown) {
            reject(thrown)
            finish()
          }
        }
        const watch = (promises: Frame['promises']): void => {
          for (const [number, promise] of promises) {
            state.open.add(number)
            void Promise.resolve(promise).then(
              (value) => settle(number, true, value),
              (reason: unknown) => settle(number, false, reason),
            )
          }
          if (state.open.size === 0) finish()
          else if (state.givenUp !== undefined) giveUp(state.givenUp.reason)
        }
        giveUp = (reason) => {
          state.givenUp = { reason }
          for (const number of state.open) settle(number, false, reason)
        }
        signal.addEventListener('abort', finish)
        // Watched even if nobody needs it any more: an unhandled rejection ends the process.
        watch(found)
        if (signal.aborted) finish()
      }),
  }
}

/**
 * The frames of values that JSON cannot represent, as a stream; read by `decodeValues`.
 * @param signal ends the stream with its reason.
 * @throws errors of a getter or a `toJSON` of the values.
 */
export function encodeValues(values: unknown, signal: AbortSignalLike, publicReason?: PublicReason): TextStream {
  const encoder = createValueEncoder(values, publicReason)
  const frames = [encoder.root]
  const over = { value: false, failed: false, reason: undefined as unknown }
  let wake: () => void = () => undefined
  const end = (failed: boolean, reason: unknown): void => {
    Object.assign(over, { value: true, failed, reason })
    wake()
  }
  encoder
    .follow((frame) => {
      frames.push(frame)
      wake()
    }, signal)
    .then(
      () => end(signal.aborted, signal.reason),
      (thrown: unknown) => end(true, thrown),
    )
  return {
    getReader: () => ({
      async read() {
        while (frames.length === 0 && !over.value) await new Promise<void>((resolve) => (wake = resolve))
        if (over.failed) throw over.reason
        const value = frames.shift()
        return value === undefined ? { done: true } : { done: false, value }
      },
      cancel() {
        frames.length = 0
        end(false, undefined)
        return Promise.resolve()
      },
    }),
  }
}
