import { Suspense, use } from 'react'
import { notFound } from 'millrace'
import type { PageProps } from 'millrace'
import { Experiment } from '../experiment.tsx'
import { Pending } from '../pending.tsx'
import { Readout } from '../readout.tsx'

type Props = PageProps<'/lab/not-found/late', typeof import('./late.server.ts')>

export const metadata = { title: 'A late not found' }

/** Refuses from inside a hole, when status and headers are long gone. */
export default function LateNotFoundPage({ data }: Props) {
  return (
    <Experiment
      title="A late not found"
      pattern="/lab/not-found/late"
      lede="The shell was sent with status 200 before it is known that the entry does not exist. The not-found page then replaces the page."
    >
      <noscript>
        <p>Putting the not-found page in place after the shell needs JavaScript.</p>
      </noscript>
      <Suspense fallback={<Pending label="entry" />}>
        <Entry entry={data.entry} />
      </Suspense>
    </Experiment>
  )
}

function Entry({ entry }: { readonly entry: Promise<string | null> }) {
  const text = use(entry)
  if (text === null) notFound()
  return <Readout label="entry" testId="entry" value={text} />
}
