import { expect, test } from 'vitest'
import { installProbe, mostBeyond, PROBE_SCRIPT } from '../../bench/page-probe.ts'
import type { ProbedScope } from '../../bench/page-probe.ts'

/** A window as far as the probe takes it over, in which every look at the clock takes 1 ms. */
function fakeWindow(href = 'https://site.test/page') {
  class Target {
    addEventListener(): void {}
  }
  class FakeElement extends Target {}
  class Observer {
    readonly callback: (...args: unknown[]) => void
    constructor(callback: (...args: unknown[]) => void) {
      this.callback = callback
    }
  }
  class Port {
    handler: (() => void) | undefined
    set onmessage(handler: (() => void) | undefined) {
      this.handler = handler
    }
  }
  const clock = { time: 0 }
  const window = Object.assign(new Target(), {
    document: new Target(),
    location: { href },
    performance: { now: () => (clock.time += 1) },
    EventTarget: Target,
    Element: FakeElement,
    MessagePort: Port,
    MutationObserver: Observer,
    IntersectionObserver: class extends Observer {},
    requestIdleCallback: (work: () => void) => work(),
  })
  installProbe(window as unknown as ProbedScope)
  return { window, probe: (window as unknown as Required<ProbedScope>).pageProbe }
}

test('listeners are counted by where they are and by type', () => {
  const { window, probe } = fakeWindow()
  const listen = (target: unknown, type: string): void =>
    (target as EventTarget).addEventListener(type, () => undefined)
  listen(window.document, 'click')
  listen(window.document, 'click')
  listen(window, 'popstate')
  listen(new window.Element(), 'load')
  listen(new window.EventTarget(), 'abort')
  expect(probe).toMatchObject({ onDocument: { click: 2 }, onWindow: { popstate: 1 }, onElements: 1 })
})

test('observers are counted, with what they watch and what they tell', () => {
  const { window, probe } = fakeWindow()
  const seen: unknown[] = []
  const observer = new window.IntersectionObserver((entries) => seen.push(entries))
  const [first, second] = ['first', 'second']
  const entries = [
    { target: first, isIntersecting: true },
    { target: second, isIntersecting: false },
    { target: first, isIntersecting: false },
  ]
  observer.callback(entries)
  expect(seen).toEqual([entries])
  expect(probe).toMatchObject({ observers: 1, observed: 2, inView: 1, watchingMs: 1 })
})

test('time of watching and time of React are kept apart', () => {
  const { window, probe } = fakeWindow()
  window.requestIdleCallback(() => undefined)
  new window.MutationObserver(() => undefined).callback()
  const port = new window.MessagePort()
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is what React's scheduler does
  port.onmessage = () => window.performance.now()
  port.handler?.()
  expect(probe).toMatchObject({ watchingMs: 2, reactMs: 2 })
})

test('what a script of the document itself does in an idle moment is no watching', () => {
  const { window, probe } = fakeWindow(import.meta.filename)
  const done: string[] = []
  window.requestIdleCallback(() => done.push('idle'))
  expect(done).toEqual(['idle'])
  expect(probe.watchingMs).toBe(0)
})

test('a callback that fails is timed and fails', () => {
  const { window, probe } = fakeWindow()
  const failing = new window.MutationObserver(() => {
    throw new Error('broken')
  })
  expect(() => failing.callback()).toThrow('broken')
  expect(probe.watchingMs).toBe(1)
})

test('the text that a page runs needs nothing around it', () => {
  const { window } = fakeWindow()
  // oxlint-disable-next-line no-new-func -- a page has nothing but the text either
  new Function('globalThis', PROBE_SCRIPT)(window)
  expect(window).toHaveProperty('pageProbe.observers', 0)
})

test('what React listens for itself does not count against the runtime', () => {
  expect(mostBeyond({ click: 3, focusin: 2, touchstart: 2 }, { click: 2, focusin: 2, touchstart: 1 })).toEqual({
    type: 'click',
    count: 1,
  })
  expect(mostBeyond({ click: 2 }, { click: 2 })).toEqual({ type: 'none', count: 0 })
})
