import type { PageProps } from 'millrace'
import { neighboursOf } from '../cache/neighbours.ts'
import { Experiment } from '../experiment.tsx'
import { Readout } from '../readout.tsx'
import { SeeAlso } from '../see-also.tsx'
import { drop } from './actions.server.ts'

type Props = PageProps<'/lab/shared/[key]', typeof import('./loader.server.ts')>

export const metadata = ({ params }: Props) => ({ title: `Shared key ${params.key}` })

/** Shows a value that the server keeps for all visitors, and an action that drops it. */
export default function SharedPage({ params, data }: Props) {
  return (
    <Experiment
      title={`Shared key ${params.key}`}
      pattern="/lab/shared/[key]"
      lede="The loader runs for each request. The shared value is made once and is fresh for 30 seconds. For five minutes more, the old value is served while a new one is made. Reload: the first time changes, the second stays, in all browsers."
    >
      <Readout label="loader ran at, in ms since 1970" testId="rendered-at" value={String(data.renderedAt)} />
      <Readout label="value was made at" testId="made-at" value={String(data.madeAt)} />
      <form action={drop} id="drop-form">
        <input type="hidden" name="key" value={params.key} />
        <button type="submit" data-testid="drop">
          Drop the value
        </button>
      </form>
      <SeeAlso
        label="Keys"
        links={neighboursOf(params.key).map((key) => ({
          href: `/lab/shared/${key}`,
          label: key,
          current: key === params.key,
        }))}
      />
    </Experiment>
  )
}
