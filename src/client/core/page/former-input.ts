import { createHeldControls, type HeldControls } from './held-controls.ts'
import { controlsIn, disown, giveBack, type Controls, type Emptied } from './drafts.ts'

/** What a former user has typed and chosen on the page on screen. */
export interface FormerInput extends Pick<HeldControls, 'release'> {
  /** Controls that it was taken from; they are not saved before somebody types in them. */
  readonly controls: Controls
  /** As `disown`. */
  takeBack(taken: Parameters<typeof disown>[2]): void
  /** Also keeps components from writing it again. */
  hold(taken: Parameters<typeof disown>[2]): void
}

/** @param typed controls that a visitor has typed in. */
export function createFormerInput({ document, navigator }: Window, typed: Controls): FormerInput {
  let controls: Controls = new WeakSet()
  let isTaken = false
  const held = createHeldControls(document)
  const emptied: Emptied = new Map()
  /** What there is then, the browser has restored. Older browsers do not say. */
  const isUntouched = (): boolean => (navigator as Partial<Navigator>).userActivation?.hasBeenActive === false

  function takeBack(taken: Parameters<typeof disown>[2]): void {
    isTaken ||= taken !== 'nothing'
    const by = isTaken && isUntouched() ? 'restored' : taken
    controls = disown(document, typed, by, emptied)
    // Components may have read it when they were made, or heard of it.
    if (by === 'restored' && emptied.size > 0)
      document.dispatchEvent(new CustomEvent('millrace:emptied', { detail: true }))
  }

  const on = (type: string, hear: (target: EventTarget, event: Event) => unknown): void =>
    document.addEventListener(type, (event) => event.target && hear(event.target, event), true)
  for (const type of ['input', 'change']) {
    on(type, (one, { isTrusted }) => {
      if (type === 'input') controls.delete(one)
      // Firefox restores a tab that was closed, or unloaded to save memory, later than its `load`, and with events. Those of
      // scripts are of components.
      if (isTaken && isTrusted && isUntouched()) takeBack('restored')
    })
  }
  document.addEventListener('millrace:back', ({ detail: isFormer }: CustomEventInit) => {
    isTaken = false
    held.release()
    // Components hold it still.
    if (!isFormer) giveBack(emptied, typed)
  })
  // What a form shows then has not been typed.
  on('reset', (form) => controlsIn(form).forEach((one) => typed.delete(one)))
  // The server has it: to restore it by events would send it again, over what is newer.
  on('millrace:saved', (one) => typed.delete(one) && controls.add(one))
  return {
    get controls() {
      return controls
    },
    takeBack,
    hold(taken) {
      takeBack(taken)
      held.hold()
    },
    release: held.release,
  }
}
