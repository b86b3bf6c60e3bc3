import { Html } from 'millrace'
import type { PageProps } from 'millrace'
import { Experiment } from '../experiment.tsx'
import { Readout } from '../readout.tsx'
import { again } from './actions.server.ts'
import styles from './page.module.css'

type Props = PageProps<'/lab/html/[key]', typeof import('./loader.server.ts')>

export const metadata = ({ params }: Props) => ({ title: `HTML ${params.key}` })

/** Shows HTML that its loader has written: once in a document, and as a record in route data. */
export default function HtmlPage({ params, data }: Props) {
  return (
    <Experiment
      title={`HTML ${params.key}`}
      pattern="/lab/html/[key]"
      lede="The loader returns text as html(…). The document has it once, in the markup; after a click it is in the data. Links and the form in it are followed without loading a document."
    >
      <Html value={data.body} as="section" className={styles['text']} data-testid="rendered-html" />
      <Readout label="word that was looked up" testId="word" value={data.word} />
      <Readout label="loader ran, in ms since 1970" testId="rendered-at" value={String(data.renderedAt)} />
      <form action={again}>
        <button type="submit" data-testid="again">
          Load the data again
        </button>
      </form>
    </Experiment>
  )
}
