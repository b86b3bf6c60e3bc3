import type { ReactNode } from 'react'
import { resumeToPipeableStream, type PipeableStream } from 'react-dom/server'
import { normalizeThrown } from '../../request/answer/normalize-thrown.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import type { RequestContext } from '../../request/context.ts'
import type { LiveStream } from './render-attempt.ts'

/**
 * Renders what is open in a document that was rendered for all.
 * @param postponed state of that render, as JSON.
 */
export function resumeShell(tree: ReactNode, postponed: string, context: RequestContext): LiveStream {
  const rendered = Promise.withResolvers<void>()
  // Its types promise a stream; React returns it at once, as other renderers do.
  const resume = resumeToPipeableStream as unknown as (
    tree: ReactNode,
    state: unknown,
    options: object,
  ) => PipeableStream
  const stream = resume(tree, JSON.parse(postponed), {
    nonce: context.nonce,
    onError: (met: unknown) => live.onLateThrown(normalizeThrown(met)),
    onAllReady: rendered.resolve,
  })
  const live: LiveStream = {
    stream,
    onLateThrown: (late) => reportFailure(late, context, 'stream'),
    whenRendered: (listener) => void rendered.promise.then(listener),
  }
  context.onAbort((reason) => stream.abort(reason))
  return live
}
