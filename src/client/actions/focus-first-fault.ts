/** Frames after which we assume that a page does not mark its faults: a sixth of a second. */
const MOST_FRAMES = 10

/**
 * Moves the focus to the first faulty field of a refused form, once the page has marked it by `aria-invalid`: screen
 * readers announce the fault there. If the focus has moved meanwhile, it stays.
 * @param members of the form, not hidden by its fields.
 */
export function focusFirstFault(members: HTMLFormElement, errors: Readonly<Record<string, unknown>>): void {
  const { elements, ownerDocument: document } = members
  const before = document.activeElement
  let frames = 0
  const look = (): void => {
    if (document.activeElement !== before) return
    const wrong = [...(elements as HTMLCollectionOf<HTMLInputElement>)].find(
      ({ name, type }) => Object.hasOwn(errors, name) && type !== 'hidden',
    )
    if (wrong?.ariaInvalid === 'true') wrong.focus()
    else if ((frames += 1) < MOST_FRAMES) requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}
