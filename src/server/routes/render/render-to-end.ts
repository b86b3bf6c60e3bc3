import { Writable } from 'node:stream'
import type { ReactNode } from 'react'
import { renderToPipeableStream } from 'react-dom/server'
import { isControlFlow } from '../../../shared/control-flow.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import { normalizeThrown } from '../../request/answer/normalize-thrown.ts'
import type { RequestContext } from '../../request/context.ts'
import { PART, type Thrown, type Whole } from './render-attempt.ts'

/**
 * Renders until nothing is pending, with all content in its place: React moves none by script. Scripts that it adds have
 * the nonce of the context.
 */
export function renderToEnd(tree: ReactNode, context: RequestContext): Promise<Whole | Thrown> {
  return new Promise((resolve) => {
    const thrown: unknown[] = []
    const stream = renderToPipeableStream(tree, {
      nonce: context.nonce,
      progressiveChunkSize: Infinity,
      onError(met, { componentStack }) {
        const error = normalizeThrown(met)
        // The browser would try that part again, for each visitor.
        if (!isControlFlow(error) && PART.test(componentStack ?? '')) context.making?.note('failed')
        thrown.push(error)
        return reportFailure(error, context, 'render')
      },
      onShellError(error) {
        resolve({ kind: 'thrown', thrown: thrown.length > 0 ? thrown[0] : normalizeThrown(error) })
      },
      onAllReady() {
        if (thrown.length > 0) {
          stream.abort()
          return resolve({ kind: 'thrown', thrown: thrown[0] })
        }
        let html = ''
        const decoder = new TextDecoder()
        stream.pipe(
          new Writable({
            write(chunk: Buffer, _encoding, done) {
              html += decoder.decode(chunk, { stream: true })
              done()
            },
            final(done) {
              resolve({ kind: 'whole', html })
              done()
            },
          }),
        )
      },
    })
    context.onAbort((reason) => stream.abort(reason))
  })
}
