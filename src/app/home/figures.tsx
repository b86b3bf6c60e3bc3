import { Link } from 'millrace'
import type { Figure, PublishedFigures } from './published-figures.server.ts'
import styles from './figures.module.css'

/** Figures of the report, good ones and bad ones. */
export function Figures({ date, figures }: PublishedFigures) {
  return (
    <section aria-labelledby="figures" className={styles['figures']}>
      <header>
        <h2 id="figures">Measured, misses included</h2>
        <p>
          On two cores of a virtual machine, <time dateTime={date}>{date}</time>.{' '}
          <Link href="/docs/performance">The report</Link> has all figures, and the command to measure them on your
          machine.
        </p>
      </header>
      <ul>
        {figures.map((figure) => (
          <li key={figure.title}>
            <FigureCard {...figure} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function FigureCard({ title, value, beside, better, bars, goal, isMet }: Figure) {
  const most = Math.max(...bars.map(({ amount }) => amount))
  return (
    <article className={styles['figure']}>
      <h3>{title}</h3>
      <p className={styles['value']}>
        {value} <small>compared with {beside},</small> <small>{better} is better</small>
      </p>
      <ul className={styles['bars']}>
        {bars.map(({ label, amount, text }, index) => (
          <li key={label} data-own={index === 0}>
            <span>{label}</span> <span>{text}</span>
            <span
              aria-hidden="true"
              className={styles['bar']}
              style={{ width: `${((100 * amount) / most).toFixed(1)}%` }}
            />
          </li>
        ))}
      </ul>
      {goal === undefined ? null : (
        <p className="status" data-status={isMet ? 'good' : 'warn'}>
          {isMet ? 'Meets' : 'Misses'} its goal, {goal}
        </p>
      )}
    </article>
  )
}
