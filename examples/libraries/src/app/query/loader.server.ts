import { dehydrate, QueryClient } from '@tanstack/react-query'
import { readGauge } from './gauge.server.ts'
import { levelQuery } from './level.ts'

export async function loader() {
  const client = new QueryClient()
  await client.prefetchQuery({ ...levelQuery, queryFn: readGauge })
  return { queries: dehydrate(client) }
}
