import type { PageProps } from 'millrace'
import { Readout } from '../readout.tsx'
import { SeeAlso } from '../see-also.tsx'

type Props = PageProps<'/lab/early', typeof import('./loader.server.ts')>

/** What waits for the loader. */
export default function EarlyPage({ data }: Props) {
  return (
    <>
      <Readout label="late" testId="late" value={`The loader took ${data.delayMs} ms`} />
      <SeeAlso
        label="Delay"
        links={[0, 300, 1_000, 3_000].map((ms) => ({
          href: `/lab/early?delay=${ms}`,
          label: `${ms} ms`,
          current: ms === data.delayMs,
        }))}
      />
    </>
  )
}
