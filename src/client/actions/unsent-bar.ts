import { UNSENT_STYLE } from './unsent-style.ts'

/** What a visitor is told of one call. */
export interface UnsentRow {
  /** It waits: says why, with the buttons. */
  show(text: string): void
  /** It is being sent. */
  busy(text: string): void
  /**
   * It is over; the row goes away.
   * @param text said until then, if any.
   * @param back where the focus belongs that the row has, the best place first.
   */
  end(text: string, ...back: readonly (Element | undefined)[]): void
}

/** The bar at the lower edge of the window, with a row for each call that was not sent. */
export interface UnsentBar {
  add(on: { again(): void; cancel(): void }): UnsentRow
}

const ANNOUNCE_MS = 100 // a screen reader must have seen the empty region before the text in it is news
const SENT_MS = 4_000 // long enough to be read
const RENDER_MS = 100 // React may be at work on what the focus belongs to

/** Not in the document until there is something to say; at the end of the body, where React leaves it alone. */
export function createUnsentBar(document: Document, texts: UnsentTexts): UnsentBar {
  const bar = document.createElement('section')
  bar.className = 'millrace-unsent'
  const style = new CSSStyleSheet()
  style.replaceSync(UNSENT_STYLE)

  /** Beside an open modal dialog, nothing could be pressed. */
  function place(): void {
    if (bar.childElementCount === 0) return bar.remove()
    const { adoptedStyleSheets } = document
    if (!adoptedStyleSheets.includes(style)) document.adoptedStyleSheets = [...adoptedStyleSheets, style]
    const parent = [...document.querySelectorAll('dialog:modal')].at(-1) ?? document.body
    if (bar.parentNode !== parent) parent.append(bar)
  }

  // Neither event bubbles. A dialog that is closed takes what is in it out of sight.
  for (const type of ['close', 'toggle']) document.addEventListener(type, place, true)

  return {
    add({ again, cancel }) {
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

  /** To what was pressed, else to the form that it was in, else to the page. */
  function giveBack(places: readonly (Element | undefined)[]): void {
    const heading = document.querySelector<HTMLElement>('main h1') ?? document.querySelector<HTMLElement>('h1')
    for (const place of places) {
      const inside = place?.querySelectorAll<HTMLElement>('button,input:not([type=hidden]),textarea,select') ?? []
      for (const wish of [place as HTMLElement | undefined, ...inside]) {
        // What has left the document does not take it.
        wish?.focus()
        if (wish && document.activeElement === wish) return
      }
    }
    heading?.setAttribute('tabindex', '-1')
    heading?.focus()
  }
}

/** What visitors are told. `%s` is replaced by the text of the button. */
export interface UnsentTexts {
  readonly notSent: string
  /** Where the button has no text. */
  readonly notSentUnnamed: string
  readonly offline: string
  readonly unreachable: string
  readonly busy: string
  /** It will send itself. */
  readonly itself: string
  /** The network is back, and it does not send itself. */
  readonly back: string
  /** The same, for one that is so old that the server would not know it again. */
  readonly backLate: string
  readonly sending: string
  readonly sent: string
  readonly again: string
  readonly cancel: string
}
