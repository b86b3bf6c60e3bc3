import type { PageProps } from 'millrace'
import { Experiment } from '../experiment.tsx'
import { SeeAlso } from '../see-also.tsx'
import { GroupList } from './group-list.tsx'
import styles from './page.module.css'

type Props = PageProps<'/lab/reports', typeof import('./loader.server.ts')>
type Inbox = NonNullable<Props['data']['inbox']>

export const metadata = { title: 'Error reports', robots: 'noindex' }

/** The embedded inbox: what has failed, most recent first. */
export default function ReportsPage({ data: { inbox } }: Props) {
  return (
    <Experiment
      title="Error reports"
      pattern="/lab/reports"
      lede="Errors of the server and of browsers, as an error service would get them. Without an error service, they are stored here: the newest 10,000 envelopes, or 256 MiB."
    >
      {inbox === undefined ? <Elsewhere /> : <Groups inbox={inbox} />}
    </Experiment>
  )
}

function Elsewhere() {
  return (
    <p data-testid="reports-elsewhere" className={styles['notice']}>
      <code>SENTRY_DSN</code> is set: reports go to the error service, and nothing is shown here.
    </p>
  )
}

function Groups({ inbox }: { readonly inbox: Inbox }) {
  const { groups, page, pages, total, envelopes } = inbox
  return (
    <section aria-labelledby="groups-heading" className={styles['groups']}>
      <h2 id="groups-heading">{headingOf(total)}</h2>
      <p
        className={styles['note']}
      >{`${envelopes.toLocaleString('en')} envelopes are kept, sessions and traces included.`}</p>
      <GroupList groups={groups} />
      {pages > 1 ? <SeeAlso label={`Page ${page} of ${pages}`} links={neighbours(page, pages)} /> : null}
      {total === 0 ? (
        <SeeAlso
          label="Make one"
          links={[
            { href: '/lab/crash/loader', label: 'a failing loader' },
            { href: '/lab/crash/client', label: 'failures in the browser' },
          ]}
        />
      ) : null}
    </section>
  )
}

function headingOf(total: number): string {
  if (total === 0) return 'Nothing has failed yet'
  return total === 1 ? '1 kind of failure' : `${total.toLocaleString('en')} kinds of failures`
}

function neighbours(page: number, pages: number) {
  return [
    ...(page > 1 ? [{ href: page === 2 ? '/lab/reports' : `/lab/reports?page=${page - 1}`, label: 'newer' }] : []),
    ...(page < pages ? [{ href: `/lab/reports?page=${page + 1}`, label: 'older' }] : []),
  ]
}
