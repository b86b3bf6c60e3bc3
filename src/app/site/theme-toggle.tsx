import { useSyncExternalStore } from 'react'
import { THEME_COLORS, THEME_KEY, THEMES, type Theme } from './theme.ts'

const CHANGED = 'millrace-theme-changed'

/**
 * Changes between the system's theme, light and dark. Which of its signs is shown is decided by the stylesheet, which knows
 * the theme before React does.
 */
export function ThemeToggle() {
  const theme = useSyncExternalStore(subscribe, readTheme, () => 'system')
  return (
    <button
      type="button"
      className="theme-toggle"
      aria-label={`Theme: ${theme}`}
      title={`Theme: ${theme}`}
      onClick={next}
    >
      <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
        <g data-of="system">
          <rect x="2.5" y="3.5" width="15" height="10" rx="1.5" />
          <path d="M7 17h6M10 13.5V17" />
        </g>
        <g data-of="light">
          <circle cx="10" cy="10" r="3.6" />
          <path d="M10 1.5v2M10 16.5v2M1.5 10h2M16.5 10h2M4 4l1.4 1.4M14.6 14.6 16 16M4 16l1.4-1.4M14.6 5.4 16 4" />
        </g>
        <path data-of="dark" d="M17 12.2A7.3 7.3 0 0 1 7.8 3a7.3 7.3 0 1 0 9.2 9.2Z" />
      </svg>
    </button>
  )
}

/** Paints, too: another tab may have changed the theme, and a page without this site's head may have been the document. */
function subscribe(changed: () => void): () => void {
  const update = (): void => {
    paint(readTheme())
    changed()
  }
  paint(readTheme())
  addEventListener('storage', update)
  addEventListener(CHANGED, update)
  return () => {
    removeEventListener('storage', update)
    removeEventListener(CHANGED, update)
  }
}

function readTheme(): Theme {
  const kept = storage()
  const theme = kept === undefined ? document.documentElement.dataset['theme'] : kept.getItem(THEME_KEY)
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

function next(): void {
  const theme = THEMES[(THEMES.indexOf(readTheme()) + 1) % THEMES.length] ?? 'system'
  paint(theme)
  if (theme === 'system') storage()?.removeItem(THEME_KEY)
  else storage()?.setItem(THEME_KEY, theme)
  dispatchEvent(new Event(CHANGED))
}

function paint(theme: Theme): void {
  document.querySelector('meta[name="theme-color"]:not([media])')?.remove()
  if (theme === 'system') {
    delete document.documentElement.dataset['theme']
    return
  }
  document.documentElement.dataset['theme'] = theme
  const meta = document.createElement('meta')
  meta.name = 'theme-color'
  meta.content = THEME_COLORS[theme]
  document.head.prepend(meta)
}

/** Browsers that block storage throw where it is read. */
function storage(): Storage | undefined {
  try {
    return localStorage
  } catch {
    return undefined
  }
}
