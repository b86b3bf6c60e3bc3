import { notFound } from 'millrace/server'
import type { LoaderArgs } from 'millrace/server'
import { findMill, readGauge } from './mills.server.ts'

export async function loader({ params, signal }: LoaderArgs<'/lab/mills/[id]'>) {
  const mill = await findMill(params.id)
  if (mill === undefined) notFound() // a real 404
  return { mill, level: readGauge(mill, signal) } // level is not awaited: it streams
}
