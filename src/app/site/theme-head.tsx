import { useRef } from 'react'
import { useServerInsertedHTML } from 'millrace'
import { THEME_COLORS, THEME_SCRIPT } from './theme.ts'

/** Puts what has to be known before the first paint into the head of a document: the script, and the colours without it. */
export function ThemeHead() {
  const isSent = useRef(false)
  useServerInsertedHTML(() => {
    if (isSent.current) return null
    isSent.current = true
    return <script dangerouslySetInnerHTML={{ __html: THEME_SCRIPT }} />
  })
  return (
    <>
      <meta name="theme-color" content={THEME_COLORS.light} media="(prefers-color-scheme: light)" />
      <meta name="theme-color" content={THEME_COLORS.dark} media="(prefers-color-scheme: dark)" />
    </>
  )
}
