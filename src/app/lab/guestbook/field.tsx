import type { ReactNode } from 'react'
import styles from './field.module.css'

/** What `Field` hands to its control. */
export interface ControlProps {
  readonly id: string
  readonly name: string
  readonly required: true
  readonly 'aria-invalid'?: true
  readonly 'aria-describedby': string
  readonly autoFocus?: true
  readonly defaultValue: string
}

/** Props of `Field`. */
export interface FieldProps {
  readonly name: string
  readonly label: string
  /** What fits, below the label. */
  readonly hint: string
  /** What is wrong with what was typed; absent where nothing is. */
  readonly error: string | undefined
  /** Whether this is the field to begin with after a refusal. */
  readonly first: boolean
  /** What was typed before. */
  readonly value: string
  readonly children: (control: ControlProps) => ReactNode
}

/** A text field with its label, hint and fault, tied together for those who cannot see them beside each other. */
export function Field({ name, label, hint, error, first, value, children }: FieldProps) {
  const [hintId, errorId] = [`${name}-hint`, `${name}-error`]
  const wrong = error !== undefined
  return (
    <div className={styles['field']}>
      <label htmlFor={name}>{label}</label>
      <small id={hintId}>{hint}</small>
      {children({
        id: name,
        name,
        required: true,
        defaultValue: value,
        'aria-describedby': wrong ? `${errorId} ${hintId}` : hintId,
        ...(wrong ? { 'aria-invalid': true } : {}),
        ...(first ? { autoFocus: true } : {}),
      })}
      {wrong ? (
        <p id={errorId} className={styles['error']} data-testid={`error-${name}`}>
          {error}
        </p>
      ) : null}
    </div>
  )
}
