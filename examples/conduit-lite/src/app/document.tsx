import type { DocumentProps } from 'millrace'

export function Document({ head, children }: DocumentProps) {
  return (
    <html lang="en">
      <head>{head}</head>
      <body>{children}</body>
    </html>
  )
}
