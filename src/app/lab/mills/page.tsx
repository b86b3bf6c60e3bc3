import { Suspense, use } from 'react'
import type { PageProps } from 'millrace'
import { Experiment } from '../experiment.tsx'
import { PowerForm } from './power-form.tsx'

type Props = PageProps<'/lab/mills/[id]', typeof import('./loader.server.ts')>

export const metadata = ({ data }: Props) => ({ title: data.mill.name })

export default function MillPage({ data }: Props) {
  return (
    <Experiment title={data.mill.name} pattern="/lab/mills/[id]" lede={`The water falls ${data.mill.fall} m.`}>
      <Suspense fallback={<p aria-busy="true">Reading the gauge …</p>}>
        <Level of={data.level} />
      </Suspense>
      <PowerForm mill={data.mill.id} />
    </Experiment>
  )
}

function Level({ of }: { readonly of: Promise<number> }) {
  return <p data-testid="level">{`The gauge shows ${use(of)} cm.`}</p>
}
