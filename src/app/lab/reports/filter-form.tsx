import { Form, href } from 'millrace'
import { LEVELS, NO_FILTER, SIDES, type ChosenFilter } from './report-filter.ts'
import styles from './filter-form.module.css'

/** Props of `FilterForm`. */
export interface FilterFormProps {
  readonly filter: ChosenFilter
  /** Releases to choose from. */
  readonly releases: readonly string[]
}

/** Chooses which failures are shown. All of it is in the URL. */
export function FilterForm({ filter, releases }: FilterFormProps) {
  const { q, release } = filter
  const known = release === '' || releases.includes(release) ? releases : [release, ...releases]
  return (
    <Form
      method="get"
      action={href('/lab/reports')}
      role="search"
      aria-label="Failures"
      defaults={{ ...NO_FILTER }}
      className={styles['filter']}
    >
      <label className={styles['text']}>
        <span>Digest, event id, trace id or words</span>
        <input type="search" name="q" defaultValue={q} maxLength={200} autoComplete="off" spellCheck={false} />
      </label>
      <Choice name="side" label="Side" all="all sides" values={SIDES} chosen={filter.side} />
      <Choice name="level" label="Level" all="all levels" values={LEVELS} chosen={filter.level} />
      <Choice name="release" label="Release" all="all releases" values={known} chosen={release} />
      <button type="submit">Show</button>
    </Form>
  )
}

interface ChoiceProps {
  readonly name: string
  readonly label: string
  /** What the choice of everything says. */
  readonly all: string
  readonly values: readonly string[]
  readonly chosen: string
}

function Choice({ name, label, all, values, chosen }: ChoiceProps) {
  return (
    <label>
      <span>{label}</span>
      {/* React never changes the default of a select. */}
      <select key={chosen} name={name} defaultValue={chosen}>
        <option value="">{all}</option>
        {values.map((value) => (
          <option key={value} value={value}>
            {value}
          </option>
        ))}
      </select>
    </label>
  )
}
