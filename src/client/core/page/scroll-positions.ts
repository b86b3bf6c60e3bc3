import { unhidden } from './form-members.ts'
import { decodeSegment } from '../../../shared/route-segment.ts'

/** Remembers the scroll positions of each history entry. */
interface ScrollPositions {
  /** Records the window and every `[data-scroll="<name>"]` container under an entry's key. */
  save(key: string): void
  /**
   * Scrolls to the exact recorded positions. If the content is not tall enough yet, retries as it grows, until the
   * position is reached, the visitor scrolls, another position is requested, or `RESTORE_LIMIT_MS` have passed.
   * @param parts `containers` if the browser itself restores the window.
   * @returns whether anything was recorded.
   */
  restore(key: string, parts?: 'all' | 'containers'): boolean
  /** Scrolls to the start of the page. */
  toTop(): void
  /**
   * Scrolls to the element that a fragment (`#id`) names. If it is not shown yet, scrolls as soon as it is, unless the
   * visitor does anything before that, another position is requested, or `LATE_LIMIT_MS` have passed.
   * @param late called after scrolling later.
   * @returns whether it is shown.
   */
  toHash(hash: string, late?: () => void): boolean
}

/** A later jump would only irritate a visitor. */
const RESTORE_LIMIT_MS = 5000

/** In which deferred values arrive, unless the server has more time for them (`RENDER_TIMEOUT_MS`). */
const LATE_LIMIT_MS = 20_000

/** One scrollable area: name of the container, empty for the window; pixels from the left and from the top. */
type Position = readonly [name: string, left: number, top: number]

const MAX_KEYS = 50 // entries; as many as browsers keep in a tab's history
const LONGEST_FRAME_MS = 1000 // more only if the tab was hidden
const STORAGE_KEY = 'millrace:scroll'
const INTERRUPTS = ['wheel', 'touchstart', 'keydown', 'pointerdown'] // a scrollbar is moved by a pointer

/**
 * Bound: the newest `MAX_KEYS` entries. Lifetime: that of the tab; they are written to the storage when the visitor
 * leaves the page.
 * @param storage of the session; `undefined` if the browser provides none.
 * @param currentKey key of the entry on screen, which is saved first on leaving.
 */
export function createScrollPositions(
  window: Window,
  storage: Storage | undefined,
  currentKey: () => string,
): ScrollPositions {
  const { document } = window
  const positions = readPositions(storage)
  let stop = (): void => undefined

  /** `undefined` while the container does not exist. */
  function find(name: string): Element | null {
    if (name === '') return document.scrollingElement
    const found = document.querySelector(`[data-scroll="${CSS.escape(name)}"]`)
    return found && unhidden(found)
  }

  function save(key: string): void {
    const containers = [...document.querySelectorAll<HTMLElement>('[data-scroll]')]
      .map(unhidden)
      .flatMap(({ dataset, scrollLeft, scrollTop }): Position[] =>
        dataset['scroll'] ? [[dataset['scroll'], scrollLeft, scrollTop]] : [],
      )
    positions.delete(key)
    positions.set(key, [['', window.scrollX, window.scrollY], ...containers])
    for (const oldest of positions.keys()) {
      if (positions.size <= MAX_KEYS) break
      positions.delete(oldest)
    }
  }

  /** @returns whether it is done now. */
  function keepTrying(limit: number, isDone: () => boolean): boolean {
    stop()
    if (isDone()) return true
    stop = tryAtFrames(window, limit, isDone)
    return false
  }

  function restore(key: string, parts: 'all' | 'containers' = 'all'): boolean {
    stop()
    const wanted = positions.get(key)
    if (!Array.isArray(wanted)) return false // nothing, or data of another script
    const extents = new Map<Position, number>()
    /**
     * Tries once per size of the content; returns whether the position is still to be reached, to the screen's pixel.
     */
    const isAhead = (position: Position): boolean => {
      const [name, left, top] = position
      const element = find(name)
      if (!element) return true
      const extent = element.scrollHeight + element.scrollWidth
      if (extents.get(position) === extent) return true
      extents.set(position, extent)
      element.scrollTo({ left, top, behavior: 'instant' })
      return Math.abs(element.scrollTop - top) >= 1 || Math.abs(element.scrollLeft - left) >= 1
    }
    let open = wanted.filter((position) => parts === 'all' || position[0] !== '')
    keepTrying(RESTORE_LIMIT_MS, () => (open = open.filter(isAhead)).length === 0)
    return true
  }

  function toTop(): void {
    stop()
    window.scrollTo({ left: 0, top: 0, behavior: 'instant' })
  }

  window.addEventListener('pagehide', () => {
    save(currentKey())
    try {
      storage?.setItem(STORAGE_KEY, JSON.stringify([...positions]))
    } catch {
      // A full storage loses only positions.
    }
  })

  return {
    save,
    restore,
    toTop,
    toHash(hash, late) {
      const { scrollY } = window
      let isLate = false
      const isShown = keepTrying(LATE_LIMIT_MS, () => {
        // A scrollbar may be moved without an event of the pointer.
        if (window.scrollY !== scrollY) return true
        const target = hashTarget(document, hash)
        if (target === null) toTop()
        if (target) unhidden(target).scrollIntoView({ behavior: 'instant' })
        if (target && isLate) late?.()
        return target !== undefined
      })
      isLate = true
      return isShown
    },
  }
}

/**
 * Tries at each frame: no observer reports overflow of a box with a fixed size, and many pages are such a box. Ends when the
 * visitor does anything.
 * @param limit milliseconds; those without frames do not count, because a hidden tab may show nothing before the visitor
 * looks at it.
 * @returns ends it.
 */
function tryAtFrames(window: Window, limit: number, isDone: () => boolean): () => void {
  const controller = new AbortController()
  const { signal } = controller
  const stop = (): void => controller.abort()
  for (const type of INTERRUPTS) window.addEventListener(type, stop, { capture: true, passive: true, signal })
  let rest = limit
  let last = window.performance.now()
  const onFrame = (now: number): void => {
    if (signal.aborted) return
    rest -= Math.min(now - last, LONGEST_FRAME_MS)
    last = now
    if (isDone() || rest < 0) stop()
    else window.requestAnimationFrame(onFrame)
  }
  window.requestAnimationFrame(onFrame)
  return stop
}

/**
 * The element that a fragment names: by id, or an anchor by name, decoded or not. What is streamed is hidden at first.
 * @returns `null` for the start of the page, `undefined` if no such element is shown.
 */
export function hashTarget(document: Document, hash: string): Element | null | undefined {
  const raw = hash.replace(/^#/, '')
  for (const name of raw === '' ? [] : [raw, decodeSegment(raw) ?? raw]) {
    const found = document.getElementById(name) ?? document.querySelector(`a[name="${CSS.escape(name)}"]`)
    if (found?.getClientRects().length) return found
  }
  return raw === '' || raw.toLowerCase() === 'top' ? null : undefined
}

/** Positions that another page of this tab has saved. */
function readPositions(storage: Storage | undefined): Map<string, readonly Position[]> {
  try {
    return new Map(JSON.parse(storage?.getItem(STORAGE_KEY) ?? '[]'))
  } catch {
    return new Map()
  }
}
