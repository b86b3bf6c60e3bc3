import { Experiment } from '../experiment.tsx'
import { Readout } from '../readout.tsx'
import { SeeAlso } from '../see-also.tsx'

export const metadata = { title: 'Landed' }

/** Where the redirects of the lab end. */
export default function LandedPage() {
  return (
    <Experiment title="Landed" pattern="/lab/landed" lede="The redirects of the lab end here.">
      <Readout label="you have" testId="landed" value="Landed" />
      <SeeAlso
        label="Again"
        links={[
          { href: '/lab/redirect/temporary', label: 'temporary, 307' },
          { href: '/lab/redirect/permanent', label: 'permanent, 308' },
          { href: '/lab/redirect/late', label: 'after the shell' },
        ]}
      />
    </Experiment>
  )
}
