import { useActionState, useEffect, useLayoutEffect, useRef, useState, type SubmitEvent } from 'react'
import { HEADING_ID } from './heading-id.ts'
import { remove } from './actions.server.ts'
import styles from './remove-form.module.css'

/** Props of `RemoveForm`. */
export interface RemoveFormProps {
  /** Of the entry. */
  readonly id: number
  /** Of its author, for screen readers, which read the button without its position. */
  readonly name: string
  /** Until when the entry can be deleted, in ms since the epoch; absent if that is over. */
  readonly until: number | undefined
}

/** Deletes one's own entry, as long as it is young enough. */
export function RemoveForm({ id, name, until }: RemoveFormProps) {
  const [state, formAction, pending] = useActionState(remove.bind(null, id), null)
  const over = useIsPast(until)
  const form = useRef<HTMLFormElement>(null)
  const reason = state?.kind === 'kept' ? state.reason : ''

  // The button that was pressed goes away with its entry; whoever uses the keyboard stays at the list.
  useLayoutEffect(() => {
    const held = form.current
    return () => {
      if (held?.contains(document.activeElement)) document.getElementById(HEADING_ID)?.focus()
    }
  }, [])

  function once(event: SubmitEvent<HTMLFormElement>): void {
    if (pending) event.preventDefault()
  }

  return (
    <form ref={form} action={formAction} onSubmit={once} className={styles['remove']}>
      {over ? null : (
        <button type="submit" aria-disabled={pending} data-testid="remove">
          {pending ? 'Deleting …' : 'Delete'}
          <span className="visually-hidden">{` the entry of ${name}`}</span>
        </button>
      )}
      <p role="status">{reason}</p>
    </form>
  )
}

/** Whether a moment is over: as the server has said, and from then on by this clock. */
function useIsPast(moment: number | undefined): boolean {
  const [past, setPast] = useState<number>()
  useEffect(() => {
    if (moment === undefined) return undefined
    const timer = setTimeout(() => setPast(moment), Math.max(0, moment - Date.now()))
    return () => clearTimeout(timer)
  }, [moment])
  return moment === undefined || past === moment
}
