import type { unhidden as Unhidden } from '../core/page/form-members.ts'
import type { Texts } from '../../shared/texts.ts'
import { UNSENT_STYLE } from './unsent-style.ts'

/** Messages to the visitor about one call. */
export interface UnsentRow {
  /** The call waits: shows the reason, with the buttons. */
  show(text: string): void
  /** The call is being sent. */
  busy(text: string): void
  /**
   * The call is over; removes the row.
   * @param text shown until then, if any.
   * @param back where to move the row's focus, the best place first.
   */
  end(text: string, ...back: readonly (Element | undefined)[]): void
}

/** The bar at the bottom of the window, with a row for each call that was not sent. */
export interface UnsentBar {
  add(on: { again(): void; cancel(): void }, texts: Pick<Texts, 'again' | 'cancel'>): UnsentRow
}

const ANNOUNCE_MS = 100 // screen readers announce text only in a region that they know already
const SENT_MS = 4_000 // long enough to be read
const RENDER_MS = 100 // React may be replacing the element that gets the focus

const FIELDS = 'button,input:not([type=hidden]),textarea,select'

/** Added to the document with its first row; at the end of the body, which React does not touch. */
export function createUnsentBar(document: Document, unhidden: typeof Unhidden): UnsentBar {
  const bar = document.createElement('section')
  bar.className = 'millrace-unsent'
  const style = new CSSStyleSheet()
  style.replaceSync(UNSENT_STYLE)

  /** Outside an open modal dialog, its buttons would be inert. */
  function place(): void {
    if (bar.childElementCount === 0) return bar.remove()
    const { adoptedStyleSheets } = document
    if (!adoptedStyleSheets.includes(style)) document.adoptedStyleSheets = [...adoptedStyleSheets, style]
    const parent = [...document.querySelectorAll('dialog:modal')].at(-1) ?? document.body
    if (bar.parentNode !== parent) parent.append(bar)
  }

  // Neither event bubbles. A closed dialog hides its content.
  for (const type of ['close', 'toggle']) document.addEventListener(type, place, true)

  return {
    add({ again, cancel }, texts) {
      const row = document.createElement('div')
      row.role = 'status'
      const text = document.createElement('p')
      const buttons = [button(texts.again, again), button(texts.cancel, cancel)]
      let isFilled = false

      function say(message: string, isBusy: boolean): void {
        if (!row.isConnected) {
          bar.append(row)
          place()
          setTimeout(() => {
            isFilled = true
            row.append(text, ...buttons)
          }, ANNOUNCE_MS)
        }
        if (text.textContent !== message) text.textContent = message
        for (const one of buttons) one.ariaDisabled = String(isBusy)
      }

      return {
        show: (message) => say(message, false),
        busy: (message) => say(message, true),
        end(message, ...back) {
          const hadFocus = row.contains(document.activeElement)
          const leave = (): void => {
            row.remove()
            place()
          }
          if (hadFocus) {
            setTimeout(() => {
              if (row.contains(document.activeElement)) giveBack(back)
              for (const one of buttons) one.remove()
            }, RENDER_MS)
          } else for (const one of buttons) one.remove()
          if (message === '' || !isFilled) return void setTimeout(leave, hadFocus ? RENDER_MS : 0)
          text.textContent = message
          setTimeout(leave, SENT_MS)
        },
      }
    },
  }

  function button(label: string, press: () => void): HTMLButtonElement {
    const made = document.createElement('button')
    made.type = 'button'
    made.textContent = label
    made.addEventListener('click', () => made.ariaDisabled !== 'true' && press())
    return made
  }

  /** Moves the focus to the pressed element, else to its form, else to the page. */
  function giveBack(places: readonly (Element | undefined)[]): void {
    const heading = document.querySelector<HTMLElement>('main h1') ?? document.querySelector<HTMLElement>('h1')
    for (const place of places) {
      if (!place) continue
      const inside = unhidden(place).querySelectorAll(FIELDS)
      for (const wish of [place, ...inside]) {
        // An element outside the document ignores this.
        unhidden(wish as HTMLElement).focus()
        if (document.activeElement === wish) return
      }
    }
    heading?.setAttribute('tabindex', '-1')
    heading?.focus()
  }
}
