import { MillCard } from './mill-card.tsx'

export const metadata = { title: 'Sass' }

export default function HomePage() {
  return (
    <>
      <h1>Sass</h1>
      <p>
        The colours are variables of <code>_theme.scss</code>.
      </p>
      <MillCard name="Upper mill" />
      <MillCard name="Lower mill" />
    </>
  )
}
