import type { HTMLAttributes, ReactNode } from 'react'
import { useField, type ControlProps, type FieldOptions, type FieldParts } from './use-field.ts'

/** Props of `FieldError`: those of a paragraph. */
export interface FieldErrorProps extends HTMLAttributes<HTMLParagraphElement> {
  /** From `useField`. */
  readonly field: Pick<FieldParts, 'error' | 'errorId'>
}

/** The error of a field, with the id by which its control refers to it. Without an error, it renders nothing. */
export function FieldError({ field, ...rest }: FieldErrorProps): ReactNode {
  const { error, errorId } = field
  return error === undefined ? null : (
    <p {...rest} id={errorId}>
      {error}
    </p>
  )
}

/** Props of `Field`. */
export interface FieldProps extends Omit<FieldOptions, 'hint'> {
  /** Of the field, as the form has it. */
  readonly name: string
  /** Of the form's `useActionState`. */
  readonly state: unknown
  /** Text of the label. */
  readonly label: ReactNode
  /** What fits, below the control. */
  readonly hint?: ReactNode | undefined
  /** Most characters: what was typed is counted behind the hint. It is not enforced; the action's schema does that. */
  readonly most?: number | undefined
  /** Class of the element around label and control. */
  readonly className?: string | undefined
  /** Makes the control. Default: a text input. */
  readonly children?: ((control: ControlProps, field: FieldParts) => ReactNode) | undefined
}

/**
 * A label, its control, a hint and the error, connected. For a different order of these, use `useField`.
 * @example
 * ```tsx
 * import { useActionState } from 'react'
 * import { Field } from 'millrace'
 *
 * export function RenameForm() {
 *   const [state, formAction] = useActionState(rename, null)
 *   return (
 *     <form action={formAction}>
 *       <Field name="name" label="Name" state={state} hint="As on the sign" />
 *       <button>Rename</button>
 *     </form>
 *   )
 * }
 * ```
 */
export function Field({ name, state, label, hint, most, className, children, ...options }: FieldProps): ReactNode {
  const hasHint = hint !== undefined || most !== undefined
  const field = useField(name, state, { ...options, hint: hasHint })
  const { control, hintId, length } = field
  return (
    <div className={className}>
      <label htmlFor={control.id}>{label}</label>
      {children === undefined ? <input {...control} /> : children(control, field)}
      {hasHint && (
        <small id={hintId}>
          {hint}
          {most !== undefined && length !== undefined && ` ${length} / ${most}`}
        </small>
      )}
      <FieldError field={field} />
    </div>
  )
}
