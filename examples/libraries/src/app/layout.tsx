import { Link, type LayoutProps } from 'millrace'
import './styles.css'

export default function SiteLayout({ children }: LayoutProps<'/'>) {
  return (
    <>
      <nav aria-label="Libraries">
        <Link href="/mantine">Mantine</Link> <Link href="/emotion">Emotion</Link> <Link href="/radix">Radix</Link>{' '}
        <Link href="/query">TanStack Query</Link> <Link href="/modal">react-modal</Link>
      </nav>
      <main>{children}</main>
    </>
  )
}
