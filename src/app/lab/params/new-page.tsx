import { Experiment } from '../experiment.tsx'
import { Readout } from '../readout.tsx'
import { SeeAlso } from '../see-also.tsx'

export const metadata = { title: 'A static segment wins' }

/** The static sibling of a dynamic segment. */
export default function NewParamsPage() {
  return (
    <Experiment
      title="A static segment wins"
      pattern="/lab/params/new"
      lede="This path also matches /lab/params/[id]. The static segment wins, at any position in the table."
    >
      <Readout label="params" testId="params" value={JSON.stringify('static')} />
      <SeeAlso label="Try" links={[{ href: '/lab/params/newer', label: 'newer (dynamic)' }]} />
    </Experiment>
  )
}
