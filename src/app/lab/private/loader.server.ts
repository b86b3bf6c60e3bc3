import { forbidden, unauthorized } from 'millrace/server'
import type { LoaderArgs } from 'millrace/server'
import { labSession } from '../session/session.server.ts'

/** Nor may anybody else call an action here. */
export const guards = true

/** Lets `admin` through: 401 for nobody, 403 for anybody else. */
export async function loader({ context, cache }: LoaderArgs<'/lab/private'>) {
  cache({ lifetime: 'no-store', tags: ['session'] })
  const { data } = await labSession.open(context)
  if (data === undefined) unauthorized()
  if (data.role !== 'admin') forbidden()
  return { role: data.role }
}
