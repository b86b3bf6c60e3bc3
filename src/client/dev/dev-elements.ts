import type { DevFrame } from './dev-messages.ts'
import { positionOf } from './fold-frames.ts'
import { OVERLAY_STYLE } from './overlay-style.ts'

/** A child of an element, or its text. */
type Child = Node | string

/** Makes an element. Texts are never parsed as HTML. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  document: Document,
  name: Name,
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  made.append(...children)
  return made
}

/** Makes a button. */
export function button(document: Document, text: string, onClick: () => void): HTMLButtonElement {
  const made = element(document, 'button', text)
  made.type = 'button'
  made.addEventListener('click', onClick)
  return made
}

/** Opens a file in an editor. */
export type OpenPlace = (frame: DevFrame) => void

/** A position as a button that opens it. */
export function placeButton(document: Document, frame: DevFrame, open: OpenPlace): HTMLButtonElement {
  const made = button(document, positionOf(frame), () => open(frame))
  made.className = 'place'
  made.title = 'Open in the editor'
  return made
}

/** An element beside the body, outside of React's tree, with a shadow tree that the page's styles do not reach. */
export function createHost(
  document: Document,
  name: string,
): { readonly host: HTMLElement; readonly shadow: ShadowRoot } {
  const host = document.createElement(name)
  const shadow = host.attachShadow({ mode: 'open' })
  const style = new CSSStyleSheet()
  style.replaceSync(OVERLAY_STYLE)
  shadow.adoptedStyleSheets = [style]
  return { host, shadow }
}
