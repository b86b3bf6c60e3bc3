/** What a visitor may choose: the system's scheme, or one of ours. In the order in which the button changes them. */
export const THEMES = ['system', 'light', 'dark'] as const

/** A member of `THEMES`. */
export type Theme = (typeof THEMES)[number]

/** The key of the choice in `localStorage`; without it, the theme is that of the system. */
export const THEME_KEY = 'millrace-theme'

/** The colours around the page in browsers that paint them: `--paper` of `styles/tokens.css`. */
export const THEME_COLORS = { light: '#f7f5ef', dark: '#0f1719' } as const

/**
 * Runs before the first paint, so that a chosen theme never flashes. Constant, because the policy of documents allows it by
 * its hash. `theme-toggle.tsx` does the same after a click.
 */
export const THEME_SCRIPT =
  `try{const t=localStorage['${THEME_KEY}'],c=${JSON.stringify(THEME_COLORS)}[t];` +
  'if(c){document.documentElement.dataset.theme=t;const m=document.createElement("meta");' +
  'm.name="theme-color";m.content=c;document.head.prepend(m)}}catch{}'
