import { href, Link, type PageProps } from 'millrace'
import { Experiment } from '../experiment.tsx'
import { SeeAlso } from '../see-also.tsx'
import { FilterForm } from './filter-form.tsx'
import { GroupList } from './group-list.tsx'
import { filterQuery, type ChosenFilter } from './report-filter.ts'
import styles from './page.module.css'

type Props = PageProps<'/lab/reports', typeof import('./loader.server.ts')>
type Inbox = NonNullable<Props['data']['inbox']>

export const metadata = { title: 'Error reports', robots: 'noindex' }

/** The embedded inbox: what has failed, most recent first. */
export default function ReportsPage({ data }: Props) {
  return (
    <Experiment
      title="Error reports"
      pattern="/lab/reports"
      lede="Errors of the server and of browsers, as an error service would get them. Without an error service, they are stored here: up to 10,000 envelopes and 256 MiB. Then the oldest are deleted."
    >
      {data.inbox === undefined ? <Elsewhere /> : <Groups data={data} inbox={data.inbox} />}
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

function Groups({ data: { filter, releases, now }, inbox }: { readonly data: Props['data']; readonly inbox: Inbox }) {
  const { groups, page, pages, total, envelopes } = inbox
  const isFiltered = Object.values(filter).some((value) => value !== '')
  return (
    <section aria-labelledby="groups-heading" className={styles['groups']}>
      {total === 0 && !isFiltered ? null : <FilterForm filter={filter} releases={releases} />}
      <h2 id="groups-heading">{headingOf(total, isFiltered)}</h2>
      <p className={styles['note']}>
        {isFiltered ? (
          <>
            Filters and words are compared with the newest 10,000 events.{' '}
            <Link href={href('/lab/reports')} prefetch="none">
              Show all failures
            </Link>
          </>
        ) : (
          `Stored envelopes, sessions and traces included: ${envelopes.toLocaleString('en')}.`
        )}
      </p>
      <GroupList groups={groups} now={now} isFiltered={isFiltered} />
      {pages > 1 ? <SeeAlso label={`Page ${page} of ${pages}`} links={neighbours(filter, page, pages)} /> : null}
      {total > 0 || isFiltered ? null : (
        <SeeAlso
          label="Make one"
          links={[
            { href: '/lab/crash/loader', label: 'a failing loader' },
            { href: '/lab/crash/client', label: 'failures in the browser' },
          ]}
        />
      )}
    </section>
  )
}

function headingOf(total: number, isFiltered: boolean): string {
  if (total === 0) return isFiltered ? 'No failure fits' : 'Nothing has failed yet'
  const kinds = total === 1 ? '1 kind of failure' : `${total.toLocaleString('en')} kinds of failures`
  return isFiltered ? `${kinds} found` : kinds
}

function neighbours(filter: ChosenFilter, page: number, pages: number) {
  const at = (other: number) => href('/lab/reports', {}, filterQuery(filter, other))
  return [
    ...(page > 1 ? [{ href: at(page - 1), label: 'newer' }] : []),
    ...(page < pages ? [{ href: at(page + 1), label: 'older' }] : []),
  ]
}
