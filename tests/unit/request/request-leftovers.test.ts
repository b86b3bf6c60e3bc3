/**
 * What is made for a request must go with it, at the next minor collection. V8 puts two kinds of functions among the old
 * objects at once: accessors of a literal, and those that are assigned to a property where they are written. All that such
 * a function closes over, and whatever hangs on that, lives until the next full collection. docs/decisions/0028.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { action, declaredAction } from '../../../src/server/routes/actions/action.ts'
import { formTarget } from '../../../src/server/routes/render/form-target.ts'
import { runAction } from '../../../src/server/routes/actions/run-action.ts'
import { DataAnswer } from '../../../src/server/routes/data/data-answer.ts'
import { callLoader } from '../../../src/server/routes/load/loader-call.ts'
import { SegmentFacts } from '../../../src/server/routes/load/segment-facts.ts'
import type { RequestContext } from '../../../src/server/request/context.ts'
import { detachedRequest } from './request-context.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void

const REQUESTS = 100
const WORDS = 10_000 // of what hangs on a request
const ALL_BYTES = REQUESTS * WORDS * 4 // at least: a word has four bytes or eight

/** Bytes among the old objects that requests leave behind after minor collections. */
async function leftovers(make: (context: RequestContext) => unknown): Promise<number> {
  // What the first calls make stays: code, shapes.
  for (let count = 0; count < 20; count += 1) await make(detachedRequest().context)
  collect()
  const before = oldBytes()
  for (let count = 0; count < REQUESTS; count += 1) {
    const { context } = detachedRequest()
    Object.assign(context.req, { weight: Array.from({ length: WORDS }, () => count) })
    await make(context)
    collect({ type: 'minor' })
  }
  collect({ type: 'minor' })
  return oldBytes() - before
}

function oldBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name: name }) => name === 'old_space' || name === 'large_object_space')
    .reduce((sum, { space_used_size: bytes }) => sum + bytes, 0)
}

async function load(context: RequestContext): Promise<void> {
  const run = ({ search }: { readonly search: unknown }): unknown => search
  await callLoader({ run, params: {}, search: { raw: { q: 'mill' } }, facts: new SegmentFacts(), context })
}

const declared = declaredAction(action({ handler: ({ params }) => params }))

async function act(context: RequestContext): Promise<void> {
  if (declared === undefined) throw new Error('not an action')
  const received = { input: { json: 'value' }, leading: [], state: undefined } as never
  await runAction(declared, received, {}, context)
}

describe('so that this test can fail, a request is left behind by', () => {
  test.for<[string, (context: RequestContext) => unknown]>([
    [
      'a literal with a getter',
      (context) => ({
        get pathname() {
          return context.pathname
        },
      }),
    ],
    [
      'a function that is assigned to a property',
      (context) => {
        const made: { pathname?: () => string } = {}
        made.pathname = () => context.pathname
        return made
      },
    ],
  ])('%s', async ([, make]) => {
    expect(await leftovers(make)).toBeGreaterThan(ALL_BYTES / 2)
  })
})

describe('no request is left behind by', () => {
  test.for<[string, (context: RequestContext) => unknown]>([
    ['what forms know of their page', formTarget],
    ['a loader', load],
    ['the handler of an action', act],
    ['headers for the answer', ({ loaderContext }) => loaderContext.headers],
    ['an answer of route data', (context) => new DataAnswer(context)],
  ])('%s', async ([, make]) => {
    expect(await leftovers(make)).toBeLessThan(ALL_BYTES / 4)
  })
})

test('who wraps a loader may hand on its arguments by spreading them', async () => {
  const { context } = detachedRequest()
  let seen: object = {}
  const run = (args: object): void => void (seen = { ...args })
  await callLoader({ run, params: {}, search: { raw: { q: 'mill' } }, facts: new SegmentFacts(), context })
  expect(seen).toMatchObject({ search: { q: 'mill' } })
  expect(Object.keys(seen).toSorted()).toEqual([
    'cache',
    'context',
    'params',
    'request',
    'search',
    'signal',
    'variants',
  ])
})
