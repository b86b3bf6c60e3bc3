import type { PageProps } from 'millrace'
import { neighboursOf } from '../cache/neighbours.ts'
import { Experiment } from '../experiment.tsx'
import { Readout } from '../readout.tsx'
import { SeeAlso } from '../see-also.tsx'
import { drop } from './actions.server.ts'

type Props = PageProps<'/lab/kept/[key]', typeof import('./loader.server.ts')>

export const metadata = ({ params }: Props) => ({ title: `Kept key ${params.key}` })

/** Shows when its document was made for all visitors, and an action that drops it. */
export default function KeptPage({ params, data }: Props) {
  return (
    <Experiment
      title={`Kept key ${params.key}`}
      pattern="/lab/kept/[key]"
      lede={`The server caches this document for ${data.seconds} seconds, and sends it to all visitors. For ${data.staleSeconds} seconds more, it sends the old document while it renders a new one. Reload: the time below stays, and the header Cache-Status says why.`}
    >
      <Readout label="document was made at, in ms since 1970" testId="rendered-at" value={String(data.renderedAt)} />
      <form action={drop} id="drop-form">
        <input type="hidden" name="key" value={params.key} />
        <button type="submit" data-testid="drop">
          Drop the document
        </button>
      </form>
      <SeeAlso
        label="Keys"
        links={neighboursOf(params.key).map((key) => ({
          href: `/lab/kept/${key}`,
          label: key,
          current: key === params.key,
        }))}
      />
    </Experiment>
  )
}
