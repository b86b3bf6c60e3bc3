import type { DocumentProps } from 'millrace'
import { useLocale } from './words.ts'
import './styles.css'

export function Document({ head, children }: DocumentProps) {
  return (
    <html lang={useLocale()}>
      <head>{head}</head>
      <body className="bg-stone-50 text-stone-900">{children}</body>
    </html>
  )
}
