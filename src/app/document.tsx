import type { DocumentProps } from 'millrace'

/** The document around every page. Styles and icons belong to the layouts, so that the bench pages stay bare. */
export function Document({ head, children }: DocumentProps) {
  return (
    // The site's first script sets an attribute for the theme.
    <html lang="en" suppressHydrationWarning>
      <head>{head}</head>
      <body>{children}</body>
    </html>
  )
}
