import styles from './readout.module.css'

/** Fills a hole until its value has arrived; as tall as the readout that follows. */
export function Pending({ label }: { readonly label: string }) {
  return (
    <div className={styles['readout']} aria-busy="true">
      <span className={styles['label']}>{label}</span>
      <span className={styles['pending']}>on its way …</span>
    </div>
  )
}
