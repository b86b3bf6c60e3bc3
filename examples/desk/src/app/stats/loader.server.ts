import type { LoaderArgs } from 'millrace/server'
import { databaseIn } from '../database.server.ts'

export { agentGuard as guard } from '../accounts/users.server.ts'

const [DAYS, DAY_MS] = [14, 86_400_000]
const COUNT = `SELECT sum(status = 'open') AS opened, sum(status = 'solved') AS solved FROM changes
  WHERE at >= ? AND at < ?`

export function loader({ params, context, cache }: LoaderArgs<'/[locale]/stats'>) {
  cache({ tags: ['tickets'] })
  const today = Math.floor(context.now() / DAY_MS) * DAY_MS
  const name = new Intl.DateTimeFormat(params.locale, { month: 'short', day: 'numeric', timeZone: 'UTC' })
  const days = Array.from({ length: DAYS }, (_, index) => today - (DAYS - 1 - index) * DAY_MS)
  const count = databaseIn(context).statement(COUNT)
  return {
    days: days.map((at) => {
      const { opened, solved } = count.get(at, at + DAY_MS) ?? {}
      return { at, name: name.format(at), opened: Number(opened ?? 0), solved: Number(solved ?? 0) }
    }),
  }
}
