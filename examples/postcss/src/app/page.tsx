import styles from './mill-list.module.css'

export const metadata = { title: 'PostCSS' }

export default function HomePage() {
  return (
    <>
      <h1>PostCSS</h1>
      <p>
        The list has one column where <code>--narrow</code> of <code>breakpoints.css</code> matches.
      </p>
      <ul className={styles['list']}>
        <li>Upper mill</li>
        <li>Lower mill</li>
      </ul>
    </>
  )
}
