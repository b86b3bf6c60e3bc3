import { href, Link, useEvents, type PageProps } from 'millrace'
import { titled, useWords } from '../words.ts'
import { FILTERS } from './kinds.ts'
import { TicketFilter } from './filter.tsx'

type Props = PageProps<'/[locale]/tickets', typeof import('./list.server.ts')>

export const metadata = titled((words) => words.nav.tickets)

const COLOURS = { open: 'bg-amber-200', pending: 'bg-sky-200', solved: 'bg-emerald-200' }

export default function TicketsPage({ data, params, search }: Props) {
  const words = useWords()
  useEvents(href('/[locale]/tickets/events', params)) // drops the list when it has changed
  const pageLink = (page: number) =>
    href('/[locale]/tickets', params, { ...search, page: page === FILTERS.page ? undefined : page })
  return (
    <>
      <h1>{words.nav.tickets}</h1>
      <TicketFilter />
      <ul className="divide-y divide-stone-200 rounded-lg border border-stone-200 bg-white">
        {data.tickets.map(({ id, subject, status, topic, customerName, updated }) => (
          <li key={id}>
            <Link
              href={href('/[locale]/tickets/[id]', { ...params, id: String(id) })}
              className="flex flex-col gap-1 px-4 py-3 sm:flex-row sm:gap-4"
            >
              <span className="min-w-0 flex-1 font-medium break-words">{`#${id} ${subject}`}</span>
              <span
                className={`self-start rounded-full px-2 text-sm ${COLOURS[status]}`}
              >{`${words.status[status]} · ${words.topics[topic]}`}</span>
              <span className="text-sm text-stone-600 sm:w-72 sm:text-right">{`${customerName}, ${updated}`}</span>
            </Link>
          </li>
        ))}
        {data.tickets.length === 0 && <li className="p-8 text-center text-stone-600">{words.none}</li>}
      </ul>
      <p className="flex justify-between">
        <span>{search.page > 1 && <Link href={pageLink(search.page - 1)}>{`← ${words.newer}`}</Link>}</span>
        <span>{data.hasMore && <Link href={pageLink(search.page + 1)}>{`${words.older} →`}</Link>}</span>
      </p>
    </>
  )
}
