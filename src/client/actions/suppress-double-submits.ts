/**
 * Takes a form only once while its call is under way, as long as nothing has been changed in it: a second click of
 * somebody in a hurry means nothing else than the first.
 * @param fields what is being sent.
 * @param onAgain called when the form is sent once more, with whether it holds the same.
 */
export function suppressDoubleSubmits(
  form: HTMLFormElement,
  fields: FormData,
  call: Promise<unknown>,
  onAgain: (isSame: boolean) => void,
): void {
  const sent = contentOf(fields)
  // The form itself hears of it before React does.
  const onSubmit = (event: SubmitEvent): void => {
    const isSame = contentOf(new FormData(form, event.submitter)) === sent
    onAgain(isSame)
    if (!isSame) return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  const end = (): void => form.removeEventListener('submit', onSubmit, true)
  form.addEventListener('submit', onSubmit, true)
  call.then(end, end)
}

function contentOf(fields: FormData): string {
  // Text has none of these.
  const parts = [...(fields as unknown as Iterable<readonly [string, Partial<File>]>)]
  return JSON.stringify(parts.map(([key, value]) => [key, value.name ?? value, value.size, value.lastModified]))
}
