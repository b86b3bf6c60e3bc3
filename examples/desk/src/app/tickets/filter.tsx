import { useRef, type ChangeEvent } from 'react'
import { Form, useSearch } from 'millrace'
import { useWords } from '../words.ts'
import { FILTERS, STATUSES } from './kinds.ts'

const TYPING_MS = 250

/** Looks while somebody types; without JavaScript the button does it. */
export function TicketFilter() {
  const words = useWords()
  const options = { defaults: FILTERS }
  const [search, setSearch] = useSearch<typeof import('./list.server.ts')>('/[locale]/tickets', options)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  function find({ target }: ChangeEvent<HTMLInputElement>): void {
    clearTimeout(timer.current)
    const look = () => setSearch((now) => ({ ...now, q: target.value, page: 1 }), { replace: true })
    timer.current = setTimeout(look, TYPING_MS)
  }
  return (
    <Form method="get" role="search" defaults={FILTERS} className="field sm:flex-row">
      <input type="search" name="q" aria-label={words.find} defaultValue={search.q} onChange={find} className="grow" />
      <select
        name="status"
        aria-label={words.labels.status}
        defaultValue={search.status}
        key={search.status}
        onChange={({ target }) => target.form?.requestSubmit()}
      >
        {(['all', ...STATUSES] as const).map((status) => (
          <option key={status} value={status}>
            {words.status[status]}
          </option>
        ))}
      </select>
      <button className="button">{words.find}</button>
    </Form>
  )
}
