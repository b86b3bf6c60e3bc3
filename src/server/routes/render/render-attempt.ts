import { hash } from 'node:crypto'
import type { ReactNode } from 'react'
import type { ReactFormState } from 'react-dom/client'
import { renderToPipeableStream, renderToString, type PipeableStream } from 'react-dom/server'
import { isControlFlow } from '../../../shared/control-flow.ts'
import type { PostedState } from './form-state.ts'
import type { RequestContext } from '../../request/context.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import { normalizeThrown } from '../../request/answer/normalize-thrown.ts'

/** Nothing to send: a value was thrown before the first byte. */
export interface Thrown {
  readonly kind: 'thrown'
  readonly thrown: unknown
}

/** A complete document, without the runtime's additions. */
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
  /**
   * Set by the sender of the stream: called with values that are thrown from now on; returns the digest for the page.
   */
  onLateThrown: (thrown: unknown) => string | undefined
  /** Calls back when nothing is left to render, at once if it is. */
  whenRendered(listener: () => void): void
}

const PREFIX_LETTERS = 16 // four bits each: 64 bits cannot be guessed in one try
const DIGIT_LETTERS = 'ghijklmnop'

/** React's marker for missing content of a boundary; text content can never look like it. */
const MISSING_BOUNDARY = '<!--$!-->'

/**
 * Start of the inline script that React adds if a client function is the action of a form: it queues submits until
 * hydration. Only a stream adds the nonce that it needs to run. With its tag, which no HTML of visitors has.
 */
const FORM_KEEPER = /<script(?: id="[^"<>]*")?>addEventListener\("submit"/

/**
 * Renders synchronously, at half the cost of streaming.
 * @returns `undefined` if something suspended or failed, because only a stream can tell which, and wait; and if React
 * has added a script.
 */
export function renderWhole(tree: ReactNode): Whole | Thrown | undefined {
  try {
    const html = renderToString(tree)
    return html.includes(MISSING_BOUNDARY) || FORM_KEEPER.test(html) ? undefined : { kind: 'whole', html }
  } catch (met) {
    const thrown = normalizeThrown(met)
    return isControlFlow(thrown) ? { kind: 'thrown', thrown } : undefined
  }
}

/** Another attempt has replaced this one; its end is not reported. */
class Superseded extends Error {
  override readonly name = 'Superseded'
}

/** A component stack that leads through an `ErrorBoundary`; bundlers may number the name. */
export const PART = /\bPartBoundary\d*\b/

/** Aborts a render whose shell is ready, in favour of another one. */
export function giveUp({ stream }: LiveStream): void {
  stream.abort(new Superseded())
}

/**
 * Prefix of the ids that React gives to placeholders and streamed content. Unpredictable, so that HTML written in
 * advance cannot contain such an id. A digest, because stylesheets can read attributes but must not learn the nonce;
 * only letters, because the number of a form is parsed from the digits after the prefix.
 */
export function idPrefix(nonce: string): string {
  return hash('sha256', nonce, 'hex')
    .slice(0, PREFIX_LETTERS)
    .replace(/\d/g, (digit) => DIGIT_LETTERS.charAt(Number(digit)))
}

/**
 * Starts a streamed render and waits for its shell. A value that is thrown before that, even inside a boundary, counts
 * as thrown before the first byte, so that the answer can still have the correct status.
 * @param whole called when the shell is ready: `true` waits for the last boundary, as for a crawler.
 * @param posted a state for the `useActionState` whose form was posted.
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
    const rendered = Promise.withResolvers<void>()

    const decide = (): void => {
      if (decided) return
      decided = true
      if (thrown.length > 0) {
        resolve({ kind: 'thrown', thrown: thrown[0] })
        stream.abort(new Superseded())
        return
      }
      live = {
        stream,
        onLateThrown: (late) => reportFailure(late, context, 'stream'),
        whenRendered: (listener) => void rendered.promise.then(listener),
      }
      resolve({ kind: 'stream', stream: live })
    }

    const stream = renderToPipeableStream(tree, {
      nonce: context.nonce,
      identifierPrefix: idPrefix(context.nonce),
      ...(posted === undefined ? {} : { formState: posted as unknown as ReactFormState }),
      onError(met, { componentStack }) {
        const error = normalizeThrown(met)
        if (error instanceof Superseded) return undefined
        if (live !== undefined) return live.onLateThrown(error)
        // The browser shows the fallback of a part. Without a Suspense around it, the shell fails.
        if (isControlFlow(error) || !PART.test(componentStack ?? '')) thrown.push(error)
        return reportFailure(error, context, 'render')
      },
      onShellReady() {
        // A boundary that failed during the shell has called onError by the end of this turn.
        waits = whole()
        if (!waits) queueMicrotask(decide)
      },
      onShellError(error) {
        if (thrown.length === 0) thrown.push(normalizeThrown(error))
        decide()
      },
      onAllReady() {
        rendered.resolve()
        if (waits) decide()
      },
    })
    context.onAbort((reason) => stream.abort(reason))
  })
}
