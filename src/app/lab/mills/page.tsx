import { Suspense, use } from 'react'
import type { PageProps } from 'millrace'
import { Experiment } from '../experiment.tsx'
import { PowerForm } from './power-form.tsx'

type Props = PageProps<'/lab/mills/[id]', typeof import('./loader.server.ts')>

export const metadata = ({ data }: Props) => ({ title: data.mill.name })

export default function MillPage({ data: { mill, level } }: Props) {
  return (
    <Experiment title={mill.name} pattern="/lab/mills/[id]" lede={mill.about}>
      <Suspense fallback={<p aria-busy="true">Reading the gauge …</p>}>
        <Level of={level} />
      </Suspense>
      <PowerForm mill={mill.id} />
    </Experiment>
  )
}

function Level({ of }: { readonly of: Promise<number> }) {
  return <p data-testid="level">{`The gauge shows ${use(of)} cm.`}</p>
}
