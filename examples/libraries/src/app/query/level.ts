import { queryOptions } from '@tanstack/react-query'

interface Level {
  readonly centimetres: number
}

/** The browser reads it again; its first value is that of the page's loader. */
export const levelQuery = queryOptions({
  queryKey: ['level'],
  queryFn: async ({ signal }): Promise<Level> => (await fetch('/query/level.json', { signal })).json(),
  staleTime: 60_000,
})
