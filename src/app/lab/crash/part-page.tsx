import { Suspense, use } from 'react'
import { ErrorBoundary, type ErrorProps, type PageProps } from 'millrace'
import { Experiment } from '../experiment.tsx'
import { Pending } from '../pending.tsx'
import { Readout } from '../readout.tsx'

type Props = PageProps<'/lab/crash/part', typeof import('./late.server.ts')>

export const metadata = { title: 'A failing part' }

/** Fails in a hole, as the late failure does, but only that part of the page is lost. */
export default function FailingPartPage({ data }: Props) {
  return (
    <Experiment
      title="A failing part"
      pattern="/lab/crash/part"
      lede="The deferred value fails after the shell. An ErrorBoundary shows the failure in its place, and the rest of the page stays."
    >
      <ErrorBoundary fallback={PartFailure}>
        <Suspense fallback={<Pending label="entry" />}>
          <Entry entry={data.entry} />
        </Suspense>
      </ErrorBoundary>
    </Experiment>
  )
}

function Entry({ entry }: { readonly entry: Promise<string> }) {
  return <Readout label="entry" testId="entry" value={use(entry)} />
}

function PartFailure({ digest, retry }: ErrorProps) {
  return (
    <div role="alert">
      <p data-testid="error">This part has failed.</p>
      {digest === undefined ? null : <p data-testid="digest">{`Digest: ${digest}`}</p>}
      <button type="button" onClick={retry}>
        Try again
      </button>
    </div>
  )
}
