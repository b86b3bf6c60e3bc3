import { useEffect, useRef } from 'react'
import { Html, type HtmlValue } from 'millrace'
import './prose.css'

const SHOWN_MS = 2_000 // "Copied" is read by then

/** The text of a chapter: our own Markdown, rendered on the server with raw HTML escaped. Another text needs another `key`. */
export function Prose({ html }: { readonly html: HtmlValue }) {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const root = element.current
    if (root === null) return undefined
    const ends = [watchScrolling(root), addCopyButtons(root)]
    return () => ends.forEach((end) => end())
  }, [])
  return <Html ref={element} value={html} className="prose" />
}

/** Makes what scrolls sideways reachable by keyboard, and nothing else. */
function watchScrolling(root: HTMLElement): () => void {
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const scrolls = target.scrollWidth > target.clientWidth
      const attributes = { tabindex: '0', role: 'group', 'aria-label': target.matches('pre') ? 'Code' : 'Table' }
      for (const [name, value] of Object.entries(attributes)) {
        if (scrolls) target.setAttribute(name, value)
        else target.removeAttribute(name)
      }
    }
  })
  for (const box of root.querySelectorAll('pre, .table-scroll')) observer.observe(box)
  return () => observer.disconnect()
}

function addCopyButtons(root: HTMLElement): () => void {
  // Without HTTPS there is no clipboard.
  const clipboard = (navigator as Partial<Navigator>).clipboard
  if (clipboard === undefined) return () => undefined
  const buttons = [...root.querySelectorAll('.code')].map((box) => {
    const button = document.createElement('button')
    button.type = 'button'
    // A style shows it, so that the text of the chapter stays what it was.
    button.ariaLabel = 'Copy'
    button.addEventListener('click', () => {
      const say = (text: string): void => {
        button.ariaLabel = text
        setTimeout(() => (button.ariaLabel = 'Copy'), SHOWN_MS)
      }
      clipboard.writeText(box.querySelector('pre')?.textContent ?? '').then(
        () => say('Copied'),
        () => say('Not copied'),
      )
    })
    box.append(button)
    return button
  })
  return () => buttons.forEach((button) => button.remove())
}
