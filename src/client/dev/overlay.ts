import type { DevFailure } from './dev-messages.ts'
import { OVERLAY_STYLE } from './overlay-style.ts'

/** Shows failures over the page; Escape and a button close it. */
export interface Overlay {
  /** Adds a failure; a failed build replaces all others, which may be its consequences. */
  show(failure: DevFailure): void
  /** Removes failures of these kinds. */
  clear(...kinds: readonly DevFailure['kind'][]): void
  /** Whether there is a failure of this kind, even if the overlay was closed. */
  has(kind: DevFailure['kind']): boolean
}

const TITLES: Readonly<Record<DevFailure['kind'], string>> = {
  build: 'The build failed',
  server: 'A request failed on the server',
  browser: 'The page failed in the browser',
}

const MOST_SHOWN = 10 // a failure in a loop must not fill the page

/** Creates the overlay of one document; it is added to the page with its first failure. */
export function createOverlay(document: Document): Overlay {
  const failures: DevFailure[] = []
  const host = document.createElement('millrace-overlay')
  const shadow = host.attachShadow({ mode: 'open' })
  const style = new CSSStyleSheet()
  style.replaceSync(OVERLAY_STYLE)
  shadow.adoptedStyleSheets = [style]
  const dialog = document.createElement('dialog')
  dialog.setAttribute('aria-label', 'Errors of the development server')
  // The event is late: another failure may be shown by then.
  dialog.addEventListener('close', () => !dialog.open && host.remove())
  shadow.append(dialog)

  function render(): void {
    if (failures.length === 0) {
      dialog.close()
      host.remove()
      return
    }
    dialog.replaceChildren(
      heading(document, () => dialog.close()),
      ...failures.map((one) => article(document, one)),
    )
    // Beside the body, outside React's tree; a failed hydration may have removed it.
    if (!host.isConnected) document.documentElement.append(host)
    if (!dialog.open) dialog.showModal()
  }

  return {
    show(failure) {
      if (failures.some(({ message, kind }) => message === failure.message && kind === failure.kind)) return
      if (failure.kind === 'build') failures.length = 0
      failures.push(failure)
      if (failures.length > MOST_SHOWN) failures.shift()
      render()
    },
    clear(...kinds) {
      const kept = failures.filter(({ kind }) => !kinds.includes(kind))
      if (kept.length === failures.length) return
      failures.splice(0, failures.length, ...kept)
      render()
    },
    has: (kind) => failures.some((failure) => failure.kind === kind),
  }
}

function heading(document: Document, close: () => void): HTMLElement {
  const header = document.createElement('header')
  const hint = document.createElement('span')
  hint.textContent = 'Development only. Disappears with its cause.'
  const button = document.createElement('button')
  button.textContent = 'Close (Esc)'
  button.addEventListener('click', close)
  header.append(hint, button)
  return header
}

function article(document: Document, { kind, message, frames, excerpt }: DevFailure): HTMLElement {
  const element = (name: string, text: string): HTMLElement => {
    const made = document.createElement(name)
    made.textContent = text
    return made
  }
  const list = document.createElement('ol')
  for (const { name, file, line, column, own } of frames) {
    const item = element('li', `${name === '' ? '' : `${name}  `}${file}:${line}:${column}`)
    if (!own) item.className = 'foreign'
    list.append(item)
  }
  const code = document.createElement('pre')
  for (const line of (excerpt ?? '').split('\n')) code.append(element(line.startsWith('>') ? 'b' : 'span', `${line}\n`))
  const made = document.createElement('article')
  made.append(element('h1', TITLES[kind]), element('p', message), ...(excerpt === undefined ? [] : [code]), list)
  return made
}
