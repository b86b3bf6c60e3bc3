import { useOptimistic } from 'react'
import { Link, useUnsent } from 'millrace'
import type { PageProps } from 'millrace'
import { Experiment } from '../experiment.tsx'
import { EntryList, type ShownEntry } from './entry-list.tsx'
import { HEADING_ID } from './heading-id.ts'
import { sign } from './actions.server.ts'
import { PageLinks } from './page-links.tsx'
import { SignForm, type Draft } from './sign-form.tsx'
import { useChanges } from './use-changes.ts'
import styles from './page.module.css'

type Props = PageProps<'/lab/guestbook', typeof import('./loader.server.ts')>

export const metadata = ({ data }: Props) => ({
  title: data.page === 1 ? 'Guestbook' : `Guestbook, page ${data.page}`,
})

/** A form, its action, and what came of it. */
export default function GuestbookPage({ data }: Props) {
  const [entries, addDraft] = useOptimistic(data.entries, withDraft)
  const isUnsent = useUnsent(sign)
  useChanges(data.revision)
  return (
    <Experiment
      title="Guestbook"
      pattern="/lab/guestbook"
      lede="One form and one action. The form works without scripts, and before they have loaded. With scripts, new entries appear at once, your own and those of others. You can delete your entry within a minute."
    >
      <SignForm onDraft={addDraft} />
      <section aria-labelledby={HEADING_ID} className={styles['entries']}>
        <h2 id={HEADING_ID} tabIndex={-1}>
          {headingOf(data.total)}
        </h2>
        {data.page === 1 ? null : (
          <p>
            New entries are on <Link href="/lab/guestbook">the first page</Link>.
          </p>
        )}
        <EntryList entries={data.page === 1 ? entries : data.entries} isUnsent={isUnsent} />
        <PageLinks page={data.page} pages={data.pages} />
      </section>
    </Experiment>
  )
}

function headingOf(total: number): string {
  if (total === 0) return 'Nobody has signed yet'
  return total === 1 ? '1 entry' : `${total.toLocaleString('en')} entries`
}

function withDraft(entries: readonly ShownEntry[], draft: Draft): readonly ShownEntry[] {
  // Real entries count up from 1, so a draft cannot be taken for one.
  const drafts = entries.filter(({ sending }) => sending === true).length
  return [{ ...draft, id: -1 - drafts, at: 0, own: false, sending: true }, ...entries]
}
