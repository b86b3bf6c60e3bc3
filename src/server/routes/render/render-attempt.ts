import { hash } from 'node:crypto'
import type { ReactNode } from 'react'
import type { ReactFormState } from 'react-dom/client'
import { renderToPipeableStream, renderToString, type PipeableStream } from 'react-dom/server'
import { isControlFlow } from '../../../shared/control-flow.ts'
import type { PostedState } from './form-state.ts'
import type { RequestContext } from '../../request/context.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import { normalizeThrown } from '../../request/answer/normalize-thrown.ts'

/** Nothing to send: something was thrown before the first byte. */
export interface Thrown {
  readonly kind: 'thrown'
  readonly thrown: unknown
}

/** A finished document, without the runtime's additions. */
export interface Whole {
  readonly kind: 'whole'
  readonly html: string
}

/** A document whose shell is ready. */
export interface Live {
  readonly kind: 'stream'
  readonly stream: LiveStream
}

/** A render whose shell is ready. */
export interface LiveStream {
  readonly stream: PipeableStream
  /** Set by whoever sends the stream: hears of what is thrown from now on, and gives the digest for the page. */
  onLateThrown: (thrown: unknown) => string | undefined
}

const PREFIX_LETTERS = 16 // four bits each: nobody guesses 64 bits in one try
const DIGIT_LETTERS = 'ghijklmnop'

/** Stands in React's output where a boundary's content is missing; text content can never look like it. */
const MISSING_BOUNDARY = '<!--$!-->'

/**
 * Begins the inline script that React adds where a form has a function of the page for an action: it keeps what is sent
 * until the page is alive. Only a stream gives it the nonce without which it does not run.
 */
const FORM_KEEPER = '>addEventListener("submit"'

/**
 * Renders in one go, which costs half of what streaming does.
 * @returns `undefined` when something suspended or failed, since only a stream can tell which, and wait; and where React
 *   has added a script.
 */
export function renderWhole(tree: ReactNode): Whole | Thrown | undefined {
  try {
    const html = renderToString(tree)
    return html.includes(MISSING_BOUNDARY) || html.includes(FORM_KEEPER) ? undefined : { kind: 'whole', html }
  } catch (met) {
    const thrown = normalizeThrown(met)
    return isControlFlow(thrown) ? { kind: 'thrown', thrown } : undefined
  }
}

/** A newer attempt has taken this one's place; nobody needs to hear how it ends. */
class Superseded extends Error {
  override readonly name = 'Superseded'
}

/** Gives up a render whose shell is ready, for another one that is to take its place. */
export function giveUp({ stream }: LiveStream): void {
  stream.abort(new Superseded())
}

/**
 * What the ids begin with that React gives to the holes of a streamed document, and to what they are filled with. Nobody who
 * writes HTML for the page ahead of time can name such an element. A digest, since attributes can be read by stylesheets,
 * and a nonce must not be; letters alone, since the number of a form is read off the digits of its prefix.
 */
export function idPrefix(nonce: string): string {
  return hash('sha256', nonce, 'hex')
    .slice(0, PREFIX_LETTERS)
    .replace(/\d/g, (digit) => DIGIT_LETTERS.charAt(Number(digit)))
}

/**
 * Starts a streamed render and waits for its shell. Whatever is thrown before that, even inside a boundary, counts as
 * thrown before the first byte, so that the answer can still have its true status.
 * @param whole asked when the shell is ready: `true` waits for the last hole, as for a crawler.
 * @param posted a state for the `useActionState` whose form was sent.
 */
export function renderStream(
  tree: ReactNode,
  context: RequestContext,
  whole: () => boolean,
  posted?: PostedState,
): Promise<Live | Thrown> {
  return new Promise((resolve) => {
    const thrown: unknown[] = []
    let live: LiveStream | undefined
    let decided = false
    let waits = false

    const decide = (): void => {
      if (decided) return
      decided = true
      if (thrown.length > 0) {
        resolve({ kind: 'thrown', thrown: thrown[0] })
        stream.abort(new Superseded())
        return
      }
      live = { stream, onLateThrown: (late) => reportFailure(late, context, 'stream') }
      resolve({ kind: 'stream', stream: live })
    }

    const stream = renderToPipeableStream(tree, {
      nonce: context.nonce,
      identifierPrefix: idPrefix(context.nonce),
      ...(posted === undefined ? {} : { formState: posted as unknown as ReactFormState }),
      onError(met) {
        const error = normalizeThrown(met)
        if (error instanceof Superseded) return undefined
        if (live !== undefined) return live.onLateThrown(error)
        thrown.push(error)
        return reportFailure(error, context, 'render')
      },
      onShellReady() {
        // A hole that failed while the shell was made has told onError by the end of this turn.
        waits = whole()
        if (!waits) queueMicrotask(decide)
      },
      onShellError(error) {
        if (thrown.length === 0) thrown.push(normalizeThrown(error))
        decide()
      },
      onAllReady() {
        if (waits) decide()
      },
    })
    context.onAbort((reason) => stream.abort(reason))
  })
}
