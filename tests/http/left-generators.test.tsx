/** Visitors who leave while a generator makes the body of an answer: undici closes its stream, cancelled or not. */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { HandlerArgs } from '../../src/server/api/loader-types.ts'
import { isOfLeftRequest } from '../../src/server/process/left-request.ts'
import { RequestAborted } from '../../src/server/request/request-aborted.ts'
import { portOf } from '../support/listening.ts'
import { connectRaw, getRequest } from '../support/raw-http.ts'
import { moduleOf, tinyApp } from '../support/tiny-app.tsx'

/** The types of the DOM do not have what Node accepts. */
function responseOf(pieces: AsyncIterable<Uint8Array>, type = 'text/plain'): Response {
  return new Response(pieces as never, { headers: { 'Content-Type': type } })
}

/** What nobody catches, from now on. */
function watchUncaught(): unknown[] {
  const uncaught: unknown[] = []
  const others = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', (thrown) => uncaught.push(thrown))
  onTestFinished(() => {
    process.removeAllListeners('uncaughtException')
    for (const other of others) process.on('uncaughtException', other)
  })
  return uncaught
}

test.for([
  ['a text', 'text/plain', 'at its own time'],
  ['a text', 'text/plain', 'by its signal'],
  ['an event stream', 'text/event-stream', 'by its signal'],
] as const)(
  'a generator that makes %s (%s) and ends %s leaves no error when its visitor has left',
  async ([, type, end]) => {
    const uncaught = watchUncaught()
    const over = Promise.withResolvers<void>()
    async function* pieces(signal: AbortSignal) {
      try {
        yield new TextEncoder().encode('data: a\n\n')
        if (end === 'by its signal') await new Promise((left) => signal.addEventListener('abort', left))
        else await delay(60)
      } finally {
        over.resolve()
      }
    }
    const { app } = tinyApp({
      routes: {
        '/pieces': {
          handler: moduleOf({
            GET: ({ signal }: HandlerArgs) => responseOf(pieces(signal), type),
          }),
        },
      },
    })
    app.readiness.markReady()
    const connection = await connectRaw(await portOf(app))
    await connection.send(getRequest('/pieces'))
    await connection.abortAfter(200)
    await over.promise
    await delay(20)
    expect(uncaught).toEqual([])
  },
)

test('what undici throws then is known from everything else that nobody catches', async () => {
  const uncaught = watchUncaught()
  async function* pieces() {
    yield new TextEncoder().encode('a')
    await delay(30)
  }
  const reader = responseOf(pieces()).body?.getReader()
  await reader?.read()
  void reader?.read()
  await delay(5)
  await reader?.cancel()
  await delay(50)
  expect(uncaught.map(isOfLeftRequest)).toEqual([true])
  expect(isOfLeftRequest(new RequestAborted('gone'))).toBe(true)
  const signal = AbortSignal.abort(new RequestAborted('gone'))
  expect(isOfLeftRequest(await delay(1, undefined, { signal }).catch((thrown: unknown) => thrown))).toBe(true)
  for (const other of [new TypeError('x'), new Error('at ReadableByteStreamController.close (x)\nundici'), 'undici'])
    expect(isOfLeftRequest(other)).toBe(false)
})
