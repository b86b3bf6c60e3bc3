import type { PageProps } from 'millrace'
import { Experiment } from '../experiment.tsx'
import { Readout } from '../readout.tsx'
import { SeeAlso } from '../see-also.tsx'

type Props = PageProps<'/lab/slow/[ms]', typeof import('./loader.server.ts')>

export const metadata = { title: 'A slow loader' }

/** A loader that is not deferred: status and shell wait for it. */
export default function SlowPage({ data }: Props) {
  return (
    <Experiment
      title="A slow loader"
      pattern="/lab/slow/[ms]"
      lede="Nothing is deferred here, so the whole answer waits for the loader. If you leave before it is done, its signal is aborted."
    >
      <Readout label="the loader took" testId="slow" value={`${data.waitedMs} ms`} />
      <SeeAlso
        label="Wait"
        links={[100, 1_000, 3_000].map((ms) => ({
          href: `/lab/slow/${ms}`,
          label: `${ms} ms`,
          current: ms === data.waitedMs,
        }))}
      />
    </Experiment>
  )
}
