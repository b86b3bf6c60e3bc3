import { unhidden } from '../core/page/form-members.ts'

/**
 * Accepts a form only once while its call is pending, unless something in it has changed: a second click in a hurry
 * means the same as the first.
 * @param fields that are being sent.
 * @param onAgain called when the form is submitted again, with whether its content is the same.
 */
export function suppressDoubleSubmits(
  form: HTMLFormElement,
  fields: FormData,
  call: Promise<unknown>,
  onAgain: (isSame: boolean) => void,
): void {
  const sent = contentOf(fields)
  const { addEventListener, removeEventListener } = unhidden(form)
  // A listener on the form runs before React's.
  const onSubmit = (event: SubmitEvent): void => {
    const isSame = contentOf(new FormData(form, event.submitter)) === sent
    onAgain(isSame)
    if (!isSame) return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  const end = (): void => removeEventListener('submit', onSubmit, true)
  addEventListener('submit', onSubmit, true)
  call.then(end, end)
}

function contentOf(fields: FormData): string {
  // Text has none of these members.
  const parts = [...(fields as unknown as Iterable<readonly [string, Partial<File>]>)].filter(
    // A button that the server has sent keeps the name that React has given it for browsers without scripts.
    ([key]) => !key.startsWith('$ACTION_'),
  )
  return JSON.stringify(parts.map(([key, value]) => [key, value.name ?? value, value.size, value.lastModified]))
}
