import type { LoaderArgs } from 'millrace/server'
import { labSession } from './session.server.ts'

/** Who is signed in, and the message that an action has left. It is shown once, so the browser must not keep it. */
export async function loader({ context, cache }: LoaderArgs<'/lab/session'>) {
  cache({ lifetime: 'no-store', tags: ['session'] })
  const session = await labSession.open(context)
  return { role: session.data?.role, flash: session.takeFlash() }
}
