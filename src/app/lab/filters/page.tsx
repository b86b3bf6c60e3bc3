import type { PageProps } from 'millrace'
import { Experiment } from '../experiment.tsx'
import { Readout } from '../readout.tsx'
import { SeeAlso } from '../see-also.tsx'

export const metadata = { title: 'An optional catch-all' }

/** An optional catch-all: any number of segments, none included. */
export default function FiltersPage({ params }: PageProps<'/lab/filters/[[...filters]]'>) {
  return (
    <Experiment
      title="An optional catch-all"
      pattern="/lab/filters/[[...filters]]"
      lede="Matches with and without segments. Without any, the param is absent, not an empty list."
    >
      <Readout label="params" testId="params" value={JSON.stringify(params)} />
      <SeeAlso
        label="Try"
        links={[
          { href: '/lab/filters', label: 'no filter' },
          { href: '/lab/filters/new', label: 'new' },
          { href: '/lab/filters/new/blue/large', label: 'new/blue/large' },
        ]}
      />
    </Experiment>
  )
}
