import { Suspense, use } from 'react'
import { external, redirect } from 'millrace'
import type { PageProps } from 'millrace'
import { Experiment } from '../experiment.tsx'
import { Pending } from '../pending.tsx'

type Props = PageProps<'/lab/redirect/late', typeof import('./late.server.ts')>

export const metadata = { title: 'A late redirect' }

/** Redirects from inside a hole, when status and headers are long gone. */
export default function LateRedirectPage({ data }: Props) {
  return (
    <Experiment
      title="A late redirect"
      pattern="/lab/redirect/late"
      lede="The shell was sent with status 200. A component that renders later calls redirect(), and the page takes you to the target."
    >
      <Suspense fallback={<Pending label="verdict" />}>
        <Verdict target={data.target} />
      </Suspense>
    </Experiment>
  )
}

function Verdict({ target }: { readonly target: Promise<string> }): never {
  redirect(external(use(target)))
}
