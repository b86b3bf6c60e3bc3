import type { LayoutProps } from 'millrace'
import { Experiment } from '../experiment.tsx'
import { Readout } from '../readout.tsx'

export const metadata = { title: 'An early shell' }

/** In the first bytes, whatever the loader of the page does. */
export default function EarlyLayout({ children }: LayoutProps) {
  return (
    <Experiment
      title="An early shell"
      pattern="/lab/early?delay=ms"
      lede="Nothing is deferred, but the entry has shell: 'early'. The layouts are sent while the loader of the page still runs, with a loading text. Then the page replaces this text."
    >
      <Readout label="shell" testId="shell" value="Sent before the loader was done" />
      {children}
    </Experiment>
  )
}
