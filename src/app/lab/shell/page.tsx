import { Suspense, use, useState } from 'react'
import type { PageProps } from 'millrace'
import { neighboursOf } from '../cache/neighbours.ts'
import { Experiment } from '../experiment.tsx'
import { Pending } from '../pending.tsx'
import { Readout } from '../readout.tsx'
import { SeeAlso } from '../see-also.tsx'
import { drop, rename } from './actions.server.ts'

type Props = PageProps<'/lab/shell/[key]', typeof import('./loader.server.ts')>

export const metadata = ({ params }: Props) => ({ title: `Shell ${params.key}` })

/** Shows when its shell was made for all visitors, who visits it, and an action that drops it. */
export default function ShellPage({ params, data }: Props) {
  return (
    <Experiment
      title={`Shell ${params.key}`}
      pattern="/lab/shell/[key]"
      lede={`The server caches this document for ${data.seconds} seconds. A visitor with the cookie “visitor” gets the cached part at once, and then the name in that cookie. Visitors without it get the complete cached page.`}
    >
      <Readout label="cached part was made at, in ms since 1970" testId="rendered-at" value={String(data.renderedAt)} />
      <Suspense fallback={<Pending label="visitor" />}>
        <Visitor visitor={data.visitor} />
      </Suspense>
      <form action={drop} id="drop-form">
        <input type="hidden" name="key" value={params.key} />
        <button type="submit" data-testid="drop">
          Drop the cached part
        </button>
      </form>
      <SeeAlso
        label="Keys"
        links={neighboursOf(params.key).map((key) => ({
          href: `/lab/shell/${key}`,
          label: key,
          current: key === params.key,
        }))}
      />
    </Experiment>
  )
}

function Visitor({ visitor }: Pick<Props['data'], 'visitor'>) {
  const { name } = use(visitor)
  const [greetings, setGreetings] = useState(0)
  return (
    <>
      <Readout label="visitor" testId="visitor" value={name} />
      <button type="button" data-testid="greet" onClick={() => setGreetings(greetings + 1)}>
        Greet ({greetings})
      </button>
      <form action={rename} id="name-form">
        <label>
          Your name <input name="name" required maxLength={40} autoComplete="off" />
        </label>
        <button type="submit">Keep the name</button>
      </form>
    </>
  )
}
