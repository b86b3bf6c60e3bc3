import { BUTTON_PLACES, type PanelLayout, type PanelSetting } from './panel-setting.ts'

/** The small button that opens the panel. */
interface PanelButton {
  show(): void
  hide(): void
}

const DRAG_PX = 6 // less is a click with an unsteady hand

const MARGIN_PX = 12

const STYLE = `
:host { all: initial; }
button { position: fixed; z-index: 2147483645; display: grid; place-items: center; width: 36px; height: 36px; padding: 0;
  border: 1px solid #7cc7ff; border-radius: 50%; background: #0f161d; color: #7cc7ff; opacity: 0.8; cursor: pointer;
  touch-action: none; }
button:hover { opacity: 1; }
svg { width: 20px; height: 20px; fill: none; stroke: currentColor; stroke-width: 2; pointer-events: none; }
@media print { button { display: none; } }
`

/** A mill wheel. */
const WHEEL = 'M12 5a7 7 0 1 0 .01 0M12 2v20M2 12h20M5 5l14 14M19 5 5 19'

/**
 * Creates the button. It can be dragged to another corner, so that it covers nothing that the developer needs. It is not
 * in the accessibility tree, where tests of the page would find it; the key does the same. A browser that a program
 * controls has no button: nothing of it is in the screenshots of tests.
 */
export function createPanelButton(window: Window, setting: PanelSetting, onOpen: () => void): PanelButton {
  const { document } = window
  const host = document.createElement('millrace-panel-button')
  host.ariaHidden = 'true'
  const button = document.createElement('button')
  button.tabIndex = -1
  button.title = 'Millrace: Alt+Shift+M. Drag it to another corner.'
  button.append(createIcon(document))
  const style = new CSSStyleSheet()
  style.replaceSync(STYLE)
  const shadow = host.attachShadow({ mode: 'open' })
  shadow.adoptedStyleSheets = [style]
  shadow.append(button)
  const drag: { from?: { readonly x: number; readonly y: number }; moved: boolean } = { moved: false }

  function place(): void {
    const { button: corner } = setting.layout
    for (const side of ['top', 'bottom', 'left', 'right'] as const) {
      button.style[side] = corner.includes(side) ? `${MARGIN_PX}px` : 'auto'
    }
  }

  button.addEventListener('pointerdown', ({ clientX: x, clientY: y, pointerId }) => {
    drag.from = { x, y }
    drag.moved = false
    button.setPointerCapture(pointerId)
  })
  button.addEventListener('pointermove', ({ clientX: x, clientY: y }) => {
    const { from } = drag
    if (from === undefined || (!drag.moved && Math.hypot(x - from.x, y - from.y) < DRAG_PX)) return
    drag.moved = true
    const corner = nearestCorner(x / window.innerWidth, y / window.innerHeight)
    if (corner === setting.layout.button) return
    setting.arrange({ button: corner })
    place()
  })
  button.addEventListener('pointerup', () => delete drag.from)
  button.addEventListener('click', () => {
    if (!drag.moved) onOpen()
    drag.moved = false
  })

  return {
    show() {
      if (window.navigator.webdriver || setting.layout.button === 'hidden') return
      place()
      document.documentElement.append(host)
    },
    hide: () => host.remove(),
  }
}

/** @param x from 0 at the left to 1; `y` from 0 at the top to 1. */
export function nearestCorner(x: number, y: number): PanelLayout['button'] {
  const corner = `${y < 0.5 ? 'top' : 'bottom'} ${x < 0.5 ? 'left' : 'right'}`
  return BUTTON_PLACES.find((one) => one === corner) ?? 'bottom left'
}

function createIcon(document: Document): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path')
  path.setAttribute('d', WHEEL)
  svg.append(path)
  return svg
}
