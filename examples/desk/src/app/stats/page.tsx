import { lazy } from 'react'
import { ClientOnly, type PageProps } from 'millrace'
import { titled, useWords } from '../words.ts'

type Props = PageProps<'/[locale]/stats', typeof import('./loader.server.ts')>

export const metadata = titled((words) => words.nav.stats)

const Chart = lazy(() => import('./chart.tsx'))

export default function StatsPage({ data: { days } }: Props) {
  const { nav, perDay, day, status } = useWords()
  return (
    <section className="card">
      <h1>{nav.stats}</h1>
      <h2>{perDay}</h2>
      <ClientOnly fallback={<div className="h-72" />}>
        {() => <Chart days={days} names={[day, status.open, status.solved]} />}
      </ClientOnly>
      <ul className="text-sm">
        {days.map(({ at, name, opened, solved }) => (
          <li key={at}>{`${name}: ${status.open} ${opened}, ${status.solved} ${solved}`}</li>
        ))}
      </ul>
    </section>
  )
}
