import { useActionState, useId, type ComponentProps } from 'react'
import { isInvalidInput, type Action } from 'millrace'

interface FieldProps extends Pick<ComponentProps<'textarea'>, 'autoComplete' | 'rows'> {
  readonly name: string
  readonly label: string
  readonly type?: 'text' | 'password' | 'file'
  readonly value?: string | undefined
}

interface FormProps {
  readonly id: string
  readonly action: Action
  readonly fields: readonly FieldProps[]
  readonly button: string
}

/** A form of one action: what was typed before, and what is wrong with it. */
export function ActionForm({ id, action, fields, button }: FormProps) {
  const [state, formAction, pending] = useActionState(action, null)
  return (
    <form id={id} action={formAction} noValidate>
      {fields.map((field) => (
        <Field key={field.name} {...field} state={state} />
      ))}
      <button aria-disabled={pending}>{button}</button>
    </form>
  )
}

function Field({ label, rows, value, state, ...rest }: FieldProps & { readonly state: unknown }) {
  const id = useId()
  const { errors, values } = isInvalidInput(state) ? state : {}
  const faults = errors?.[rest.name]
  const typed = values?.[rest.name] ?? value
  const shared = { id, 'aria-invalid': faults !== undefined, 'aria-describedby': `${id}-fault` }
  const kept = rest.type === 'file' ? {} : { defaultValue: typeof typed === 'string' ? typed : undefined }
  return (
    <p className="field">
      <label htmlFor={id}>{label}</label>
      {rows === undefined ? (
        <input {...rest} {...shared} {...kept} />
      ) : (
        <textarea rows={rows} name={rest.name} {...shared} {...kept} />
      )}
      <span id={`${id}-fault`} role="alert">
        {faults?.join(' ')}
      </span>
    </p>
  )
}
