/** Whether the panel is switched on in this browser, for all pages of the site. */
export interface PanelSetting {
  readonly on: boolean
  set(on: boolean): void
}

/** Query parameter that switches the panel on, and with `=off` off. */
const PARAMETER = 'millrace-panel'

const STORAGE_KEY = 'millrace:panel'

/** Stored in the browser; without storage, for the lifetime of the document. */
export function createPanelSetting(window: Window): PanelSetting {
  const state = { on: read(window) }
  const setting: PanelSetting = {
    get on() {
      return state.on
    },
    set(on) {
      state.on = on
      try {
        if (on) window.localStorage.setItem(STORAGE_KEY, 'on')
        else window.localStorage.removeItem(STORAGE_KEY)
      } catch {
        // The browser allows no storage for this site.
      }
    },
  }
  const asked = new URLSearchParams(window.location.search).get(PARAMETER)
  if (asked !== null) setting.set(asked !== 'off')
  return setting
}

function read(window: Window): boolean {
  try {
    return window.localStorage.getItem(STORAGE_KEY) === 'on'
  } catch {
    return false
  }
}
