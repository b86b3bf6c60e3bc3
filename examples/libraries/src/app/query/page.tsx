import { useState } from 'react'
import { HydrationBoundary, QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query'
import type { PageProps } from 'millrace'
import { levelQuery } from './level.ts'

type Props = PageProps<'/query', typeof import('./loader.server.ts')>

export const metadata = { title: 'TanStack Query' }

export default function QueryPage({ data }: Props) {
  const [client] = useState(() => new QueryClient())
  return (
    <QueryClientProvider client={client}>
      <HydrationBoundary state={data.queries}>
        <h1>TanStack Query</h1>
        <Level />
      </HydrationBoundary>
    </QueryClientProvider>
  )
}

function Level() {
  const { data, refetch } = useQuery(levelQuery)
  return (
    <p>
      {`${data?.centimetres ?? '?'} cm`}{' '}
      <button type="button" onClick={() => void refetch()}>
        Read again
      </button>
    </p>
  )
}
