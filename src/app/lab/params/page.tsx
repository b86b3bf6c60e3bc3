import type { PageProps } from 'millrace'
import { Experiment } from '../experiment.tsx'
import { Readout } from '../readout.tsx'
import { SeeAlso } from '../see-also.tsx'

type Props = PageProps<'/lab/params/[id]', typeof import('./loader.server.ts')>

export const metadata = ({ params }: Props) => ({ title: `Param ${params.id}` })

/** One dynamic segment, as component and loader see it. */
export default function ParamsPage({ params, data }: Props) {
  return (
    <Experiment
      title="One dynamic segment"
      pattern="/lab/params/[id]"
      lede="The segment is decoded exactly once. An encoded slash stays inside it, and a query of the same name does not change it."
    >
      <Readout label="params in the component" testId="params" value={JSON.stringify(params)} />
      <Readout label="params in the loader" testId="params-loader" value={JSON.stringify(data.seen)} />
      <SeeAlso
        label="Try"
        links={[
          { href: '/lab/params/42', label: '42' },
          { href: '/lab/params/a%2Fb%20c', label: 'a%2Fb%20c' },
          { href: '/lab/params/%E6%B0%B4', label: '水' },
          { href: '/lab/params/42?id=7', label: '42?id=7' },
          { href: '/lab/params/new', label: 'new (static)' },
        ]}
      />
    </Experiment>
  )
}
