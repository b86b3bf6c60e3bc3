import { Suspense, use } from 'react'
import type { PageProps } from 'millrace'
import { Experiment } from '../experiment.tsx'
import { Readout } from '../readout.tsx'
import { Pending } from '../pending.tsx'
import { SeeAlso } from '../see-also.tsx'

type Props = PageProps<'/lab/stream', typeof import('./loader.server.ts')>

export const metadata = { title: 'Streaming' }

/** A shell that is sent at once and a hole that is filled in the same response. */
export default function StreamPage({ data }: Props) {
  return (
    <Experiment
      title="Streaming"
      pattern="/lab/stream?delay=ms"
      lede="The loader returns a promise as a part of its data. The shell does not wait for it: the value follows later, in the same response."
    >
      <Readout label="shell" testId="shell" value={`Sent at once, with a hole of ${data.delayMs} ms`} />
      <Suspense key={data.delayMs} fallback={<Pending label="deferred" />}>
        <Deferred text={data.deferred} />
      </Suspense>
      <SeeAlso
        label="Delay"
        links={[0, 300, 1_000, 3_000].map((ms) => ({
          href: `/lab/stream?delay=${ms}`,
          label: `${ms} ms`,
          current: ms === data.delayMs,
        }))}
      />
    </Experiment>
  )
}

function Deferred({ text }: { readonly text: Promise<string> }) {
  return <Readout label="deferred" testId="deferred" value={use(text)} />
}
