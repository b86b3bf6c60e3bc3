import styles from './mill-card.module.scss'

export function MillCard({ name }: { readonly name: string }) {
  return <div className={styles['card']}>{name}</div>
}
