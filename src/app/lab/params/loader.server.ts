import type { LoaderArgs } from 'millrace/server'

/** Hands the params back, to show that loader and component were given the same. */
export function loader({ params }: LoaderArgs<'/lab/params/[id]'>) {
  return { seen: { id: params.id } }
}
