import { notFound, type LoaderArgs } from 'millrace/server'

const MILLS = [
  { id: '1', name: 'Upper mill', wheels: 2 },
  { id: '2', name: 'Lower mill', wheels: 3 },
]

export function loader({ params }: LoaderArgs<'/mills/[id]'>) {
  const mill = MILLS.find(({ id }) => id === params.id)
  if (mill === undefined) notFound()
  return { mill, others: MILLS.filter((other) => other !== mill) }
}
