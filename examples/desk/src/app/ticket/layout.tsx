import { Suspense, use } from 'react'
import { ErrorBoundary, href, Link, useEvents } from 'millrace'
import { useWords } from '../words.ts'
import { setStatus } from './actions.server.ts'
import { Conversation, type TicketProps } from './conversation.tsx'

export const metadata = ({ data: { ticket } }: Pick<TicketProps, 'data'>) => ({
  title: `#${ticket.id} ${ticket.subject}`,
})

const NEXT = { open: ['pending', 'solved'], pending: ['solved', 'open'], solved: ['open'] } as const

export default function TicketLayout({ data, params, children }: TicketProps) {
  const words = useWords()
  const isLive = useEvents(href('/[locale]/tickets/[id]/events', params))
  const { ticket, history, isAgent } = data
  const { status, topic, customer, agent, opened } = words.labels
  const facts = [
    [status, words.status[ticket.status]],
    [topic, words.topics[ticket.topic]],
    [customer, ticket.customerName],
    [agent, ticket.agentName ?? words.nobody],
    [opened, ticket.created],
  ]
  return (
    <article className="grid grid-cols-1 items-start gap-6 md:grid-cols-[minmax(0,1fr)_18rem]">
      <h1 className="md:col-span-2">{`#${params.id} ${ticket.subject}`}</h1>
      <Conversation data={data} />
      <aside className="flex flex-col gap-4">
        <dl className="card">
          {facts.map(([name, value]) => (
            <div key={name} className="flex justify-between gap-4">
              <dt>{name}</dt>
              <dd className="text-right font-medium">{value}</dd>
            </div>
          ))}
        </dl>
        {isAgent && (
          <div className="flex flex-wrap gap-2">
            {NEXT[ticket.status].map((next) => (
              <form key={next} action={setStatus.bind(null, params.id, next)}>
                <button className="quiet">{words.setStatus[next]}</button>
              </form>
            ))}
            <Link href={href('/[locale]/tickets/[id]/edit', params)} scroll={false} className="quiet">
              {words.edit}
            </Link>
          </div>
        )}
        <section className="card">
          <h2>{words.history}</h2>
          <ErrorBoundary fallback={HistoryFailed}>
            <Suspense fallback={<p aria-busy="true">{words.loadingHistory}</p>}>
              <History changes={history} />
            </Suspense>
          </ErrorBoundary>
          <small className={isLive ? 'text-teal-700' : ''}>{isLive ? `● ${words.live}` : `○ ${words.live}`}</small>
        </section>
      </aside>
      {children}
    </article>
  )
}

function History({ changes }: { readonly changes: TicketProps['data']['history'] }) {
  const words = useWords()
  return (
    <ul id="history">
      {use(changes).map(({ id, name, status, at }) => (
        <li key={id}>{`${at}: ${words.status[status]} (${name})`}</li>
      ))}
    </ul>
  )
}

function HistoryFailed() {
  return <p role="alert">{useWords().historyFailed}</p>
}
