import { inspectorTables } from '../inspect/inspector-tables.ts'
import type { RouterInsight } from '../inspect/router-insight.ts'
import type { PanelSetting } from './panel-setting.ts'
import { PANEL_STYLE } from './panel-style.ts'
import { createPanelTable, make, type PanelTable } from './panel-table.ts'

/** Shows on any page the content of `/lab/inspector`. */
export interface Panel {
  /** Called after hydration, with the page's router. Shows the panel if it is switched on. */
  inspect(insight: RouterInsight): void
}

const TICK_MS = 1_000 // ages are shown in whole seconds
const HINT = 'Development only. Alt+Shift+M shows and hides it.'

/**
 * Creates the panel of one document, and listens for its key. The panel is beside the body, in a shadow tree: neither
 * React nor the page's styles reach it.
 */
export function createPanel(window: Window, setting: PanelSetting): Panel {
  const { document } = window
  const tables = new Map<string, PanelTable>()
  const state: {
    insight?: RouterInsight
    closed?: AbortController
    frame?: number | undefined
    before?: Element | null
  } = {}

  const { host, aside, content } = createPanelElements(document, () => toggle(false))

  function render(): void {
    state.frame = undefined
    const { insight } = state
    if (insight === undefined) return
    for (const table of inspectorTables(insight, Date.now())) {
      const shown = tables.get(table.id) ?? createPanelTable(document, table)
      if (tables.size === 0) content.replaceChildren()
      if (!tables.has(table.id)) content.append(shown.element)
      tables.set(table.id, shown)
      shown.update(table)
    }
  }

  /** A page with a thousand links changes the queue a thousand times. */
  function renderSoon(): void {
    state.frame ??= window.requestAnimationFrame(render)
  }

  function open(): void {
    if (state.closed !== undefined) return
    const closed = new AbortController()
    state.closed = closed
    const timer = window.setInterval(renderSoon, TICK_MS)
    closed.signal.addEventListener('abort', () => window.clearInterval(timer))
    document.documentElement.append(host)
    watch()
    render()
  }

  function watch(): void {
    const { insight, closed } = state
    if (insight === undefined || closed === undefined) return
    closed.signal.addEventListener('abort', insight.subscribe(renderSoon))
  }

  function close(): void {
    state.closed?.abort()
    delete state.closed
    host.remove()
  }

  function toggle(on: boolean): void {
    setting.set(on)
    if (on) {
      state.before = document.activeElement
      open()
      aside.focus({ preventScroll: true })
    } else {
      const hadFocus = document.activeElement === host
      close()
      if (hadFocus && state.before instanceof HTMLElement) state.before.focus({ preventScroll: true })
    }
  }

  window.addEventListener('keydown', (event) => {
    // By its position on the keyboard: with Alt it types another letter on some systems.
    if (event.code !== 'KeyM' || !event.altKey || !event.shiftKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    toggle(state.closed === undefined)
  })

  return {
    inspect(insight) {
      state.insight = insight
      watch()
      if (setting.on) open()
      renderSoon()
    },
  }
}

function createPanelElements(document: Document, onClose: () => void) {
  const button = make(document, 'button', 'Close')
  button.addEventListener('click', onClose)
  const header = make(document, 'header')
  header.append(make(document, 'strong', 'Client router'), make(document, 'p', HINT), button)
  const content = make(document, 'div')
  content.append(make(document, 'p', 'The client router has not started in this document.'))
  const aside = make(document, 'aside')
  aside.ariaLabel = 'Client router'
  aside.tabIndex = -1
  aside.append(header, content)
  const style = new CSSStyleSheet()
  style.replaceSync(PANEL_STYLE)
  const host = make(document, 'millrace-panel')
  const shadow = host.attachShadow({ mode: 'open' })
  shadow.adoptedStyleSheets = [style]
  shadow.append(aside)
  return { host, aside, content }
}
