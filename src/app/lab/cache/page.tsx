import type { PageProps } from 'millrace'
import { Experiment } from '../experiment.tsx'
import { Readout } from '../readout.tsx'
import { SeeAlso } from '../see-also.tsx'
import { neighboursOf } from './neighbours.ts'

type Props = PageProps<'/lab/cache/[key]', typeof import('./loader.server.ts')>

export const metadata = ({ params }: Props) => ({ title: `Cache key ${params.key}` })

/** Shows when its loader ran, and links to pages of the same pattern. */
export default function CachePage({ params, data }: Props) {
  return (
    <Experiment
      title={`Key ${params.key}`}
      pattern="/lab/cache/[key]"
      lede="The time below is when this page's loader ran. Go to a neighbour and come back: if the time is unchanged, the data came from the browser's cache."
    >
      <Readout label="loader ran at, in ms since 1970" testId="rendered-at" value={String(data.renderedAt)} />
      <SeeAlso
        label="Keys"
        links={neighboursOf(params.key).map((key) => ({
          href: `/lab/cache/${key}`,
          label: key,
          current: key === params.key,
        }))}
      />
    </Experiment>
  )
}
