import type { ReactNode } from 'react'
import { FieldError, useField, type ControlProps } from 'millrace'
import styles from './field.module.css'

/** Props of `Field`. */
export interface FieldProps {
  readonly name: string
  readonly label: string
  /** What fits, below the label. */
  readonly hint: string
  /** Of the form. */
  readonly state: unknown
  readonly children: (control: ControlProps & { readonly required: true }) => ReactNode
}

/** A text field with its label, hint and fault, tied together for those who cannot see them beside each other. */
export function Field({ name, label, hint, state, children }: FieldProps) {
  const field = useField(name, state, { id: name, hint: true })
  return (
    <div className={styles['field']}>
      <label htmlFor={name}>{label}</label>
      <small id={field.hintId}>{hint}</small>
      {children({ ...field.control, required: true })}
      <FieldError field={field} className={styles['error']} data-testid={`error-${name}`} />
    </div>
  )
}
