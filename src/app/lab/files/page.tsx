import type { PageProps } from 'millrace'
import { Experiment } from '../experiment.tsx'
import { Readout } from '../readout.tsx'
import { SeeAlso } from '../see-also.tsx'

export const metadata = { title: 'A catch-all' }

/** A catch-all: one or more segments. */
export default function FilesPage({ params }: PageProps<'/lab/files/[...path]'>) {
  return (
    <Experiment
      title="A catch-all"
      pattern="/lab/files/[...path]"
      lede="Takes one segment or more, and passes them to the page as a list, each decoded separately. /lab/files alone is not found."
    >
      <Readout label="params" testId="params" value={JSON.stringify(params)} />
      <SeeAlso
        label="Try"
        links={[
          { href: '/lab/files/readme.md', label: 'readme.md' },
          { href: '/lab/files/src/app/routes.ts', label: 'src/app/routes.ts' },
          { href: '/lab/files/with%20space/and%2Fslash', label: 'with%20space/and%2Fslash' },
        ]}
      />
    </Experiment>
  )
}
