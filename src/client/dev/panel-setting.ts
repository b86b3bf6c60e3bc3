import type { InspectorSection } from '../inspect/inspector-sections.ts'

/** Edges of the window at which the panel may be. */
export const DOCKS = ['bottom', 'right', 'top', 'left'] as const

/** Places of the button that opens the panel. */
export const BUTTON_PLACES = ['bottom left', 'bottom right', 'top left', 'top right', 'hidden'] as const

/** How the panel looks in this browser. */
export interface PanelLayout {
  readonly section: InspectorSection['id']
  readonly dock: (typeof DOCKS)[number]
  /** Height at the bottom and the top, in CSS pixels. */
  readonly height: number
  /** Width at the left and the right, in CSS pixels. */
  readonly width: number
  readonly button: (typeof BUTTON_PLACES)[number]
}

/** Whether the panel is switched on in this browser, and how it looks, for all pages of the site. */
export interface PanelSetting {
  readonly on: boolean
  readonly layout: PanelLayout
  set(on: boolean): void
  arrange(change: Partial<PanelLayout>): void
}

/** Query parameter that switches the panel on, and with `=off` off. */
const PARAMETER = 'millrace-panel'

const STORAGE_KEY = 'millrace:panel'
const LAYOUT_KEY = 'millrace:panel-layout'

const FIRST_LAYOUT: PanelLayout = { section: 'screen', dock: 'bottom', height: 360, width: 520, button: 'bottom left' }

/** Stored in the browser; without storage, for the lifetime of the document. */
export function createPanelSetting(window: Window): PanelSetting {
  const state = { on: read(window, STORAGE_KEY) === 'on', layout: readLayout(read(window, LAYOUT_KEY)) }
  const setting: PanelSetting = {
    get on() {
      return state.on
    },
    get layout() {
      return state.layout
    },
    set(on) {
      state.on = on
      write(window, STORAGE_KEY, on ? 'on' : undefined)
    },
    arrange(change) {
      state.layout = { ...state.layout, ...change }
      write(window, LAYOUT_KEY, JSON.stringify(state.layout))
    },
  }
  const asked = new URLSearchParams(window.location.search).get(PARAMETER)
  if (asked !== null) setting.set(asked !== 'off')
  return setting
}

/** Members that another version has written otherwise get their first values. */
export function readLayout(stored: string | null): PanelLayout {
  const { dock, button, height, width, section } = parse(stored)
  return {
    section: SECTIONS.find((one) => one === section) ?? FIRST_LAYOUT.section,
    dock: DOCKS.find((one) => one === dock) ?? FIRST_LAYOUT.dock,
    height: typeof height === 'number' && height > 0 ? height : FIRST_LAYOUT.height,
    width: typeof width === 'number' && width > 0 ? width : FIRST_LAYOUT.width,
    button: BUTTON_PLACES.find((one) => one === button) ?? FIRST_LAYOUT.button,
  }
}

const SECTIONS: readonly InspectorSection['id'][] = ['screen', 'cache', 'requests', 'actions', 'prefetch', 'page']

function parse(stored: string | null): Partial<Record<keyof PanelLayout, unknown>> {
  try {
    return (JSON.parse(stored ?? '{}') as object | null) ?? {}
  } catch {
    return {}
  }
}

function read(window: Window, key: string): string | null {
  try {
    return window.localStorage.getItem(key)
  } catch {
    return null
  }
}

function write(window: Window, key: string, value: string | undefined): void {
  try {
    if (value === undefined) window.localStorage.removeItem(key)
    else window.localStorage.setItem(key, value)
  } catch {
    // The browser allows no storage for this site.
  }
}
