import type { PageObserver } from '../inspect/observe-page.ts'
import type { RouterInsight } from '../inspect/router-insight.ts'
import { createPanelButton } from './panel-button.ts'
import type { PanelSetting } from './panel-setting.ts'
import type { MountedPanel } from './panel-view.tsx'

/** Shows on any page what `/lab/inspector` shows. */
interface Panel {
  /** Called after hydration, with the page's router. Shows the panel if it is switched on, and its button if not. */
  inspect(insight: RouterInsight): void
}

/**
 * Creates the panel of one document, and listens for its key. The panel is beside the body, in a shadow tree, and has a
 * React root of its own: neither the page's tree nor its styles reach it. Its code loads when it is first opened.
 */
export function createPanel(window: Window & typeof globalThis, setting: PanelSetting, observer: PageObserver): Panel {
  const { document } = window
  const host = document.createElement('millrace-panel')
  const shadow = host.attachShadow({ mode: 'open' })
  const state: {
    insight?: RouterInsight
    /** Set while it is open. */
    mounted?: Promise<MountedPanel>
    before?: Element | null
  } = {}
  const button = createPanelButton(window, setting, () => toggle(true))

  function open(takesFocus: boolean): void {
    if (state.mounted !== undefined) return
    document.documentElement.append(host)
    button.hide()
    const { insight } = state
    const options = { container: shadow, setting, observer, insight, takesFocus, onClose: () => toggle(false) }
    state.mounted = import('./panel-view.tsx').then(({ mountPanel }) => mountPanel(window, options))
    // The development server is gone.
    state.mounted.catch(close)
  }

  function close(): void {
    state.mounted?.then(
      (mounted) => mounted.unmount(),
      () => undefined,
    )
    delete state.mounted
    host.remove()
    if (state.insight !== undefined) button.show()
  }

  function toggle(on: boolean): void {
    setting.set(on)
    if (on) {
      state.before = document.activeElement
      open(true)
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
    toggle(state.mounted === undefined)
  })

  return {
    inspect(insight) {
      state.insight = insight
      void state.mounted?.then((mounted) => mounted.show(insight))
      if (setting.on) open(false)
      else if (state.mounted === undefined) button.show()
    },
  }
}
