import { Link } from 'millrace'
import styles from './comparison.module.css'

const FRAMEWORKS = ['Millrace', 'Next.js, App Router', 'React Router, framework mode'] as const

const ROWS: readonly (readonly [what: string, ...answers: readonly [string, string, string]])[] = [
  ['Server', 'Express 5', 'its own', 'a request handler and adapters'],
  ['Routes', 'one typed table', 'folders', 'a routes file, generated types'],
  ['React Server Components', 'no', 'yes', '—'],
  ['HTML of an error page in the response', 'yes', 'no, by script', 'yes'],
  ['Redirects, rewrites, headers as a table', 'yes, as in Next.js', 'yes', 'no'],
]

/** The main differences from well-known frameworks. The handbook has more. */
export function Comparison() {
  return (
    <section aria-labelledby="comparison" className={styles['comparison']}>
      <h2 id="comparison">Compared with others</h2>
      <table className="stacked">
        <thead>
          <tr>
            <th scope="col">
              <span className="visually-hidden">What</span>
            </th>
            {FRAMEWORKS.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {ROWS.map(([what, ...answers]) => (
            <tr key={what}>
              <th scope="row">{what}</th>
              {answers.map((answer, index) => (
                <td key={FRAMEWORKS[index]} data-label={FRAMEWORKS[index]}>
                  {answer}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        A dash means that we make no statement. <Link href="/docs/comparison">The comparison</Link> has details, and
        says when to choose another framework.
      </p>
    </section>
  )
}
