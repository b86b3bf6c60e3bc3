import type { PageProps } from 'millrace'
import { Experiment } from '../experiment.tsx'
import { Readout } from '../readout.tsx'
import { SeeAlso } from '../see-also.tsx'

type Props = PageProps<'/lab/flaky/[key]', typeof import('./loader.server.ts')>

export const metadata = ({ params }: Props) => ({ title: `Flaky key ${params.key}` })

const FAILURES = [1, 3, 4] // three retries get through three failures, and not through four

/** Shows how many requests it took. */
export default function FlakyPage({ params, data }: Props) {
  return (
    <Experiment
      title={`Flaky key ${params.key}`}
      pattern="/lab/flaky/[key]"
      lede="The first requests for a key get 503; ?fail= is their number. After a click, the client router retries up to three times. A document is requested once, and shows the error page."
    >
      <Readout label="requests for this key so far" testId="attempts" value={String(data.attempts)} />
      {/* A request made ahead would count, and take the failure away from the click. */}
      <div data-prefetch="none">
        <SeeAlso
          label="Keys that fail at first"
          links={FAILURES.map((fail) => ({
            href: `/lab/flaky/fails-${fail}?fail=${fail}`,
            label: fail === 1 ? 'once' : `${fail} times`,
            current: params.key === `fails-${fail}`,
          }))}
        />
      </div>
    </Experiment>
  )
}
