import { useActionState, type ComponentProps } from 'react'
import { Field, type Action } from 'millrace'

interface ControlOfForm extends Pick<ComponentProps<'textarea'>, 'autoComplete' | 'rows'> {
  readonly name: string
  readonly label: string
  readonly type?: 'text' | 'password' | 'file'
  readonly value?: string | undefined
}

interface FormProps {
  readonly id: string
  readonly action: Action
  readonly fields: readonly ControlOfForm[]
  readonly button: string
}

/** A form of one action: what was typed before, and what is wrong with it. */
export function ActionForm({ id, action, fields, button }: FormProps) {
  const [state, formAction, pending] = useActionState(action, null)
  return (
    <form id={id} action={formAction} noValidate>
      {fields.map(({ name, label, value = '', rows, ...rest }) => (
        <Field key={name} className="field" {...{ name, label, value, state }}>
          {(control) => (rows === undefined ? <input {...rest} {...control} /> : <textarea rows={rows} {...control} />)}
        </Field>
      ))}
      <button aria-disabled={pending}>{button}</button>
    </form>
  )
}
