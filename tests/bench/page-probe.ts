/** What the probe has seen of a page since its first script. Times in ms. */
export interface PageProbe {
  /** IntersectionObservers that were made. */
  observers: number
  /** Elements that they have told of: each at least once, as soon as it is observed. */
  observed: number
  /** Those of them that were in view. */
  inView: number
  /** Listeners on the document, by event type. */
  readonly onDocument: Record<string, number>
  /** Listeners on the window, by event type. */
  readonly onWindow: Record<string, number>
  /** Listeners on elements. */
  onElements: number
  /**
   * Spent in the callbacks by which links are watched: idle moments, observers of mutations and of intersections. Idle
   * moments that scripts inside of the document have asked for are not among them: the recorder fetches the SDK in one.
   */
  watchingMs: number
  /** Spent in the messages by which React schedules its work. */
  reactMs: number
}

/** The part of a window that the probe takes over. */
export interface ProbedScope {
  readonly document: object
  readonly location: { readonly href: string }
  readonly performance: Pick<Performance, 'now'>
  readonly EventTarget: typeof EventTarget
  readonly Element: new () => object
  readonly MessagePort: { readonly prototype: object }
  MutationObserver: typeof MutationObserver
  IntersectionObserver: typeof IntersectionObserver
  requestIdleCallback: typeof requestIdleCallback
  pageProbe?: PageProbe
}

/**
 * Counts and times in a page, by taking the place of the constructors and functions that the runtime uses; to be run
 * before any script of the page. It stands alone, because it is sent to the browser as text (`PROBE_SCRIPT`).
 * @param scope the window unless told.
 */
export function installProbe(scope?: ProbedScope): void {
  const window = scope ?? (globalThis as unknown as ProbedScope)
  const clock = window.performance
  const probe: PageProbe = {
    observers: 0,
    observed: 0,
    inView: 0,
    onDocument: {},
    onWindow: {},
    onElements: 0,
    watchingMs: 0,
    reactMs: 0,
  }
  window.pageProbe = probe

  function timed(kind: 'watchingMs' | 'reactMs', work: (...args: never[]) => unknown) {
    return function (this: unknown, ...args: never[]): unknown {
      const start = clock.now()
      try {
        return work.apply(this, args)
      } finally {
        probe[kind] += clock.now() - start
      }
    }
  }

  // What takes the place of a method that a page calls a thousand times would be timed with it, so that is left alone.
  const told = new Set<Element>()
  const NativeIntersectionObserver = window.IntersectionObserver
  window.IntersectionObserver = class extends NativeIntersectionObserver {
    constructor(callback: IntersectionObserverCallback, options?: IntersectionObserverInit) {
      const work = timed('watchingMs', callback)
      super((entries, observer) => {
        for (const { target, isIntersecting } of entries) {
          told.add(target)
          if (isIntersecting) probe.inView += 1
        }
        probe.observed = told.size
        work(entries as never, observer as never)
      }, options)
      probe.observers += 1
    }
  }
  const NativeMutationObserver = window.MutationObserver
  window.MutationObserver = class extends NativeMutationObserver {
    constructor(callback: MutationCallback) {
      super(timed('watchingMs', callback) as MutationCallback)
    }
  }
  const nativeIdle = window.requestIdleCallback
  window.requestIdleCallback = (work, options) => {
    // A frame of a script inside of the document has the document's URL, followed by line and column.
    const isInline = new Error('for its stack').stack?.includes(`${window.location.href}:`)
    return nativeIdle(isInline ? work : (timed('watchingMs', work) as IdleRequestCallback), options)
  }

  const prototype = window.EventTarget.prototype
  const addEventListener = prototype.addEventListener
  prototype.addEventListener = function (this: EventTarget, type: string, ...rest: never[]): void {
    const target: unknown = this ?? window
    const counted = target === window.document ? probe.onDocument : target === window ? probe.onWindow : undefined
    if (counted !== undefined) counted[type] = (counted[type] ?? 0) + 1
    else if (target instanceof window.Element) probe.onElements += 1
    addEventListener.call(this, type, ...(rest as unknown as [EventListener]))
  } as typeof addEventListener

  // React's scheduler gives its work to a port of a MessageChannel; nothing else of the runtime has one.
  const port = window.MessagePort.prototype
  const onmessage = Object.getOwnPropertyDescriptor(port, 'onmessage')
  Object.defineProperty(port, 'onmessage', {
    ...onmessage,
    set(this: unknown, work: unknown) {
      onmessage?.set?.call(this, typeof work === 'function' ? timed('reactMs', work as () => unknown) : work)
    },
  })
}

/** Installs the probe in the page that runs it. */
export const PROBE_SCRIPT = `(${installProbe.toString()})()`

/** Listeners of the fullest type, over those that a page has where React is alone. */
export function mostBeyond(
  counted: Readonly<Record<string, number>>,
  alone: Readonly<Record<string, number>>,
): { readonly type: string; readonly count: number } {
  const beyond = Object.entries(counted).map(([type, count]) => ({ type, count: count - (alone[type] ?? 0) }))
  return beyond.reduce((most, one) => (one.count > most.count ? one : most), { type: 'none', count: 0 })
}
