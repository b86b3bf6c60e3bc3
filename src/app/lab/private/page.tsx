import type { PageProps } from 'millrace'
import { Experiment } from '../experiment.tsx'
import { Readout } from '../readout.tsx'
import { SeeAlso } from '../see-also.tsx'

type Props = PageProps<'/lab/private', typeof import('./loader.server.ts')>

export const metadata = { title: 'A private page' }

/** What only `admin` gets to see. */
export default function PrivatePage({ data }: Props) {
  return (
    <Experiment
      title="A private page"
      pattern="/lab/private"
      lede="The loader checks the session before the page is rendered. The result is the same for the document, for the data of a click, and for actions."
    >
      <Readout label="let in as" testId="private" value={data.role} />
      <SeeAlso label="Change that" links={[{ href: '/lab/session', label: 'session' }]} />
    </Experiment>
  )
}
