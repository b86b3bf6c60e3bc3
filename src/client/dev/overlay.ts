import { button, createHost, element } from './dev-elements.ts'
import type { DevFailure, DevFrame } from './dev-messages.ts'
import { addFailure, clearFailures, type ListedFailure } from './failure-list.ts'
import { failureText } from './failure-text.ts'
import { failureArticle } from './overlay-article.ts'

/** Shows failures over the page, one at a time; Escape and a button close it until the next failure. */
interface Overlay {
  /** Adds a failure, or counts an equal one. A failed build replaces all others. */
  show(failure: DevFailure): void
  /** Removes failures of these kinds. */
  clear(...kinds: readonly DevFailure['kind'][]): void
  /** Whether there is a failure of this kind, even if the overlay was closed. */
  has(kind: DevFailure['kind']): boolean
  /** Names and versions of what runs, for copied text. */
  setVersions(versions: string): void
}

/** Asks for a file to be opened in an editor. Rejects with the reason for a reader. */
export type OpenInEditor = (frame: DevFrame) => Promise<void>

interface OverlayState {
  list: readonly ListedFailure[]
  index: number
  versions: string
}

/** Creates the overlay of one document; it is added to the page with its first failure. */
export function createOverlay(document: Document, openInEditor: OpenInEditor): Overlay {
  const state: OverlayState = { list: [], index: 0, versions: '' }
  const { host, shadow } = createHost(document, 'millrace-overlay')
  const { dialog, say } = createDialog(document, host, shadow)

  function openPlace(frame: DevFrame): void {
    openInEditor(frame).then(
      () => say(`Opened ${frame.file} in the editor.`),
      (error: unknown) => say(error instanceof Error ? error.message : String(error)),
    )
  }

  function copy({ failure }: ListedFailure): void {
    navigator.clipboard.writeText(failureText(failure, state.versions)).then(
      () => say('Copied.'),
      () => say('The browser did not allow copying.'),
    )
  }

  function step(by: number): void {
    const { length } = state.list
    state.index = (state.index + by + length) % length
    render()
  }

  function render(): void {
    const { list, index } = state
    const shown = list[index]
    if (shown === undefined) {
      dialog.close()
      host.remove()
      return
    }
    const focused = shadow.activeElement?.getAttribute('data-control') ?? ''
    const header = element(
      document,
      'header',
      element(document, 'span', list.length === 1 ? 'Development only' : `${index + 1} of ${list.length}`),
      ...(list.length === 1
        ? []
        : [control('previous', 'Previous', () => step(-1)), control('next', 'Next', () => step(1))]),
      control('copy', 'Copy', () => copy(shown)),
      control('close', 'Close (Esc)', () => dialog.close()),
    )
    dialog.querySelector('div')?.replaceChildren(header, failureArticle(document, shown, openPlace))
    // Beside the body, outside React's tree; a failed hydration may have removed it.
    if (!host.isConnected) document.documentElement.append(host)
    if (!dialog.open) {
      dialog.showModal()
      dialog.focus()
    } else if (focused !== '') dialog.querySelector<HTMLElement>(`[data-control=${focused}]`)?.focus()
  }

  function control(name: string, text: string, onClick: () => void): HTMLElement {
    const made = button(document, text, onClick)
    made.dataset['control'] = name
    return made
  }

  dialog.addEventListener('keydown', (event) => {
    if (state.list.length < 2 || event.altKey || event.ctrlKey || event.metaKey) return
    // In a block of code the arrows scroll.
    if (event.target instanceof HTMLElement && event.target.localName === 'pre') return
    if (event.key === 'ArrowLeft') step(-1)
    else if (event.key === 'ArrowRight') step(1)
  })

  return {
    show(failure) {
      const { list, index } = addFailure(state.list, failure)
      const isNews = list[index]?.count === state.list[index]?.count && list.length === state.list.length
      state.list = list
      // An open overlay stays at the failure that is read. The status of an answer opens nothing.
      if (!dialog.open && isNews) return
      if (!dialog.open || state.index >= list.length) state.index = index
      render()
    },
    clear(...kinds) {
      const list = clearFailures(state.list, kinds)
      if (list === state.list) return
      const wasOpen = dialog.open
      state.list = list
      state.index = Math.min(state.index, Math.max(list.length - 1, 0))
      if (list.length === 0 || wasOpen) render()
    },
    has: (kind) => state.list.some(({ sides }) => sides.includes(kind)),
    setVersions(versions) {
      state.versions = versions
    },
  }
}

/** @returns the dialog with a place for its content, and how to announce something in it. */
function createDialog(document: Document, host: HTMLElement, shadow: ShadowRoot) {
  const dialog = element(document, 'dialog')
  dialog.tabIndex = -1
  dialog.setAttribute('aria-label', 'Errors of the development server')
  const status = element(document, 'output')
  // The event is late: another failure may be shown by then.
  dialog.addEventListener('close', () => {
    status.textContent = ''
    if (!dialog.open) host.remove()
  })
  dialog.append(element(document, 'div'), status)
  shadow.append(dialog)
  return { dialog, say: (text: string) => void (status.textContent = text) }
}
