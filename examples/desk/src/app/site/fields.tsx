import { createContext, use, useActionState, type FormEventHandler, type ReactNode } from 'react'
import { Field, isInvalidInput, type Action } from 'millrace'
import { useWords, type FaultWord } from '../words.ts'

const FormState = createContext<unknown>(null)

interface ActionFormProps<State> {
  readonly id: string
  readonly action: Action<never, [], State>
  readonly label: string // of its button
  readonly children?: ReactNode
  readonly renderState?: (state: State) => ReactNode
  readonly onSubmit?: FormEventHandler<HTMLFormElement>
}

/** A form with fields and a button. Faults of its action are keys of the words. */
export function ActionForm<State>({ id, action, label, children, renderState, onSubmit }: ActionFormProps<State>) {
  const [state, submit, pending] = useActionState(action, null)
  const { faults } = useWords()
  const said = (keys: readonly string[]) => keys.map((key) => faults[key as FaultWord] ?? key)
  const refused = isInvalidInput(state) ? state : undefined
  const errors = Object.fromEntries(Object.entries(refused?.errors ?? {}).map(([name, keys]) => [name, said(keys)]))
  return (
    <form id={id} action={submit} onSubmit={onSubmit} noValidate className="card">
      <FormState value={refused && { ...refused, errors }}>{children}</FormState>
      <p role="alert">{errors['']}</p>
      <button className="button" aria-disabled={pending}>
        {label}
      </button>
      {state !== null && !isInvalidInput(state) && renderState?.(state)}
    </form>
  )
}

interface TextFieldProps {
  readonly name: string
  readonly label: string
  readonly value?: string
  readonly hint?: string
  readonly type?: 'text' | 'email' | 'file'
  readonly rows?: number // makes a text area
  readonly options?: Readonly<Record<string, string>> // makes a select, with the names of its values
}

export function TextField({ type = 'text', rows, options, ...field }: TextFieldProps) {
  return (
    <Field {...field} state={use(FormState)} className="field">
      {(control, { values }) => {
        if (rows !== undefined) return <textarea {...control} rows={rows} />
        if (options === undefined) return <input {...control} type={type} multiple={type === 'file'} />
        return (
          <select {...control} key={values[0]}>
            {Object.entries(options).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        )
      }}
    </Field>
  )
}
