/** Errors that look like control flow, as those of another service may, are failures like any other. */
import request from 'supertest'
import { expect, test } from 'vitest'
import { controlFlowDigest, RefusalSignal } from '../../src/shared/control-flow.ts'
import { fallbacks, moduleOf, page } from '../support/tiny-app.tsx'
import { failingServer } from './failing-server.ts'

const upstreamError = (members: object): Error => Object.assign(new Error('upstream'), members)
const FORGED: readonly (readonly [string, () => Error])[] = [
  ['a digest of ours', () => upstreamError({ digest: controlFlowDigest(new RefusalSignal('notFound')) })],
  ['a digest of Next.js', () => upstreamError({ digest: 'NEXT_REDIRECT;replace;/x;307;' })],
  ['a message of Next.js', () => new Error('NEXT_HTTP_ERROR_FALLBACK;404')],
  ['a name of ours', () => upstreamError({ name: 'RedirectSignal' })],
  ['an abort that its visitor has not caused', () => new DOMException('This operation was aborted', 'AbortError')],
  ['an answer of another service that has broken off', () => new Error('aborted')],
  ['a message about the answer of another service', () => new Error('HTTP Client Error with status code: 404')],
]

test.for(FORGED)('%s: reported from a loader, a component and outside of requests', async ([, make]) => {
  const fails = (): never => {
    throw make()
  }
  const { app, reported } = await failingServer({
    routes: {
      '/': fallbacks('root'),
      '/loader': { page: page(() => 'never'), loader: moduleOf({ loader: fails as never }) },
      '/page': { page: page(fails) },
    } as never,
  })
  await request(app).get('/loader').expect(500)
  await request(app).get('/page').expect(500)
  await app.reporter?.fatal(make())
  // Reports of several senders come in any order.
  const told = (await reported('event')).map(({ level, tags }) => `${level} ${(tags as { place?: string })?.place}`)
  expect(told.toSorted()).toEqual(['error loader', 'error render', 'fatal undefined'])
})
