import type { RequestHandler } from 'express'
import { expect, test, vi } from 'vitest'
import { inOrder } from '../../../src/server/http/in-order.ts'

const passes: RequestHandler = (_req, _res, next) => next()

function run(...handlers: readonly RequestHandler[]) {
  const next = vi.fn<(error?: unknown) => void>()
  inOrder(...handlers)({} as never, {} as never, next)
  return next
}

test('handlers run one after the other, and what stands behind them last', () => {
  const seen: number[] = []
  const note =
    (number: number): RequestHandler =>
    (_req, _res, next) => {
      seen.push(number)
      next()
    }
  const next = run(note(1), note(2), note(3))
  expect(seen).toEqual([1, 2, 3])
  expect(next.mock.calls).toEqual([[undefined]])
})

test('a handler that answers ends the order', () => {
  const behind = vi.fn<RequestHandler>()
  expect(run(passes, () => undefined, behind)).not.toHaveBeenCalled()
  expect(behind).not.toHaveBeenCalled()
})

test.for<[string, RequestHandler]>([
  [
    'throws',
    () => {
      throw new Error('broken')
    },
  ],
  ['rejects', () => Promise.reject(new Error('broken'))],
  ['says so', (_req, _res, next) => next(new Error('broken'))],
  ['throws later, behind one that waits', (_req, _res, next) => queueMicrotask(() => next(new Error('broken')))],
])('the error of a handler that %s goes past all others', async ([, handler]) => {
  const behind = vi.fn<RequestHandler>()
  const next = run(passes, handler, behind)
  await vi.waitFor(() => expect(next).toHaveBeenCalledWith(new Error('broken')))
  expect(next).toHaveBeenCalledTimes(1)
  expect(behind).not.toHaveBeenCalled()
})
