import { Link } from 'millrace'
import styles from './crumbs.module.css'

/** Where a page of the lab is: the way back, and the pattern or rule the page stands for. */
export function Crumbs({ pattern }: { readonly pattern: string }) {
  return (
    <nav aria-label="Breadcrumb" className={styles['crumbs']}>
      <Link href="/lab">Lab</Link>
      <span aria-hidden="true">/</span>
      <code>{pattern}</code>
    </nav>
  )
}
