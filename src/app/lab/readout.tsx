import styles from './readout.module.css'

/** Props of `Readout`. */
export interface ReadoutProps {
  /** What the value is, in words. */
  readonly label: string
  /** The `data-testid` of the element whose text is exactly `value`. */
  readonly testId: string
  /** One string, so that the served HTML holds it in one piece. */
  readonly value: string
}

/** A measured value with its name, like a gauge on an instrument. */
export function Readout({ label, testId, value }: ReadoutProps) {
  return (
    <div className={styles['readout']}>
      <span className={styles['label']}>{label}</span>
      <code className={styles['value']} data-testid={testId}>
        {value}
      </code>
    </div>
  )
}
