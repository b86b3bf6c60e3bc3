import { startTransition, useActionState, useEffect, useRef, type ReactNode, type SubmitEvent } from 'react'
import { sign } from './actions.server.ts'
import { LONGEST_MESSAGE, LONGEST_NAME, messageFault, nameFault, tidyMessage, tidyName } from './entry.ts'
import { Field } from './field.tsx'
import styles from './sign-form.module.css'

/** An entry on its way. */
export interface Draft {
  readonly name: string
  readonly message: string
}

/** Props of `SignForm`. */
export interface SignFormProps {
  /** Shows an entry before the server has it. Called inside of the form's own transition. */
  readonly onDraft: (draft: Draft) => void
}

/** The form. It works without script; with it, an entry shows before the server has answered. */
export function SignForm({ onDraft }: SignFormProps) {
  const [state, formAction, pending] = useActionState(sign, null)
  const form = useRef<HTMLFormElement>(null)
  const refused = state?.kind === 'invalid' ? state : undefined

  useEffect(() => {
    if (refused !== undefined) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [refused])

  function showDraft(event: SubmitEvent<HTMLFormElement>): void {
    // A second click while the first is on its way means the same entry.
    if (pending) return event.preventDefault()
    const fields = new FormData(event.currentTarget)
    const draft = { name: tidyName(textOf(fields, 'name')), message: tidyMessage(textOf(fields, 'message')) }
    if (nameFault(draft.name) !== undefined || messageFault(draft.message) !== undefined) return
    startTransition(() => onDraft(draft))
  }

  return (
    // The browser's own bubbles would show one fault at a time, and none to a screen reader that has moved on.
    <form ref={form} action={formAction} onSubmit={showDraft} noValidate className={styles['form']}>
      <Field name="name" label="Name" hint={`Up to ${LONGEST_NAME} characters.`} state={state}>
        {(control) => <input {...control} autoComplete="name" />}
      </Field>
      <Field name="message" label="Message" hint={`Up to ${LONGEST_MESSAGE} characters.`} state={state}>
        {(control) => <textarea {...control} rows={4} />}
      </Field>
      <div className={styles['send']}>
        <button type="submit" aria-disabled={pending}>
          {pending ? 'Signing …' : 'Sign the guestbook'}
        </button>
        <p
          role="status"
          data-testid="sign-status"
          className={state?.kind === 'limited' ? styles['limited'] : undefined}
        >
          {pending ? '' : statusOf(state)}
        </p>
      </div>
    </form>
  )
}

function statusOf(state: Awaited<ReturnType<typeof sign>>): ReactNode {
  if (state?.kind === 'signed') {
    return (
      <>
        Thank you, <bdi>{state.name}</bdi>.
      </>
    )
  }
  return state?.kind === 'limited' ? state.reason : ''
}

function textOf(fields: FormData, name: string): string {
  const value = fields.get(name)
  return typeof value === 'string' ? value : ''
}
