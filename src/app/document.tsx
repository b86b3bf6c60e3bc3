import type { DocumentProps } from 'millrace'

/** The document around every page. Styles and icons belong to the layouts, so that the bench pages stay bare. */
export function Document({ head, children }: DocumentProps) {
  return (
    <html lang="en">
      <head>{head}</head>
      <body>{children}</body>
    </html>
  )
}
