import { Suspense, use } from 'react'
import type { PageProps } from 'millrace'
import { Experiment } from '../experiment.tsx'
import { Pending } from '../pending.tsx'
import { Readout } from '../readout.tsx'

type Props = PageProps<'/lab/crash/late', typeof import('./late.server.ts')>

export const metadata = { title: 'A late failure' }

/** Fails inside a hole, when status and headers are long gone. */
export default function LateFailurePage({ data }: Props) {
  return (
    <Experiment
      title="A late failure"
      pattern="/lab/crash/late"
      lede="The deferred value fails after the shell was sent with status 200. The error page then replaces the page, with the digest of the log line."
    >
      <noscript>
        <p>Putting the error page in place after the shell needs JavaScript.</p>
      </noscript>
      <Suspense fallback={<Pending label="entry" />}>
        <Entry entry={data.entry} />
      </Suspense>
    </Experiment>
  )
}

function Entry({ entry }: { readonly entry: Promise<string> }) {
  return <Readout label="entry" testId="entry" value={use(entry)} />
}
