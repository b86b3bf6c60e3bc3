/** A form that is being sent, and what it holds. */
export interface Submission {
  readonly form: EventTarget | null
  readonly fields: FormData
}

/** Notes which form a call has come from, until it is over. */
export type NoteSubmit = (submission: Submission, call: Promise<unknown>) => void

/**
 * Takes a form only once while its call is under way, as long as nothing has been changed in it: a second click of
 * somebody in a hurry means nothing else than the first.
 */
export function suppressDoubleSubmits(window: Window): NoteSubmit {
  /** What is on its way. */
  const sent = new WeakMap<EventTarget, string>()

  // Before React hears of it.
  const onSubmit = (event: SubmitEvent): void => {
    const { target, submitter } = event
    if (!(target instanceof HTMLFormElement)) return
    if (sent.get(target) !== contentOf(new FormData(target, submitter))) return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  window.addEventListener('submit', onSubmit, { capture: true })

  return ({ form, fields }, call) => {
    if (form === null) return
    const content = contentOf(fields)
    const end = (): void => {
      if (sent.get(form) === content) sent.delete(form)
    }
    sent.set(form, content)
    call.then(end, end)
  }
}

function contentOf(fields: FormData): string {
  return JSON.stringify(
    [...fields].map(([name, value]) =>
      typeof value === 'string' ? [name, value] : [name, value.name, value.size, value.lastModified],
    ),
  )
}
