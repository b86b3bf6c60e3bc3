/** Which of a tab's windows keeps which typed text: they have one storage. */
import { expect, test } from 'vitest'
import { placeOf } from '../../../src/client/core/page/frame-place.ts'

/** A window with frames; only what other origins may see of it. */
function windowWith(...frames: Record<string | number, unknown>[]) {
  const window: Record<string | number, unknown> = { ...frames, length: frames.length }
  window['parent'] = window
  for (const frame of frames) frame['parent'] = window
  return window
}

test('a page has no place, and each frame its own', () => {
  const [inner, first, second] = [windowWith(), windowWith(), windowWith()]
  const outer = windowWith(inner)
  const page = windowWith(first, outer, second)
  const places = [page, first, outer, inner, second].map((window) => placeOf(window as never))
  expect(places).toEqual(['', ' 0', ' 1', ' 1 0', ' 2'])
})
