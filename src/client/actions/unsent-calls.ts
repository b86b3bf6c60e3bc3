import type { RouterListeners } from '../react/router-types.ts'
import type { unhidden } from '../core/page/form-members.ts'
import type { Texts } from '../../shared/texts.ts'
import { createUnsentBar, type UnsentBar, type UnsentRow } from './unsent-bar.ts'

/**
 * Calls that did not reach the server, or whose answers did not reach the browser. Each is shown until it is sent or
 * cancelled. This module is loaded in advance, because it is needed when nothing can be loaded.
 *
 * | state   | again (visitor)     | network is back                    | ask (not sent again) | cancel, or a different user signs in | end  |
 * |---------|---------------------|------------------------------------|----------------------|--------------------------------------|------|
 * | waiting | sending             | sending; waiting if one must ask   | -                    | over                                 | over |
 * | sending | -                   | -                                  | waiting              | -                                    | over |
 *
 * A call does not send itself if it has a file, its form was edited, it is old, or somebody has signed in or out since.
 */

/**
 * How long a call may send itself, in ms from its start: the server recognises repetitions by their key for ten
 * minutes, and a late attempt needs time to arrive.
 */
const SENDS_ITSELF_MS = 540_000

const FIRST_LOOK_MS = 5_000 // a restarted server is back by then; the call's own retries cover less
const LONGEST_LOOK_MS = 60_000

/** Why a call was not sent: no answer, or the server is overloaded. */
type UnsentReason = 'offline' | 'busy'

/** A call that was made. */
export interface MadeCall {
  /** Of its action. */
  readonly id: string
  /** When, in milliseconds since the epoch. */
  readonly madeAt: number
  /** Files may be large, and the connection expensive: they are never sent without asking. */
  readonly hasFile: boolean
  /** The form that was sent, or the clicked element. */
  readonly by: Element | undefined
  readonly form: HTMLFormElement | undefined
  /** The text of the pressed element at that moment. */
  readonly label?: string | null | undefined
  /** Whether its user has signed out since: then it is not sent again by itself. */
  readonly isUncertain: boolean
}

/** An unsent call. */
export interface UnsentCall {
  /** Shows it, and resolves with whether to send it again; if not, the visitor has cancelled it. */
  ask(why: UnsentReason): Promise<boolean>
  /** Sends it again, as its button does; nothing while it is being sent. */
  again(): void
  /** Ends the call. @param sent whether the server has answered. */
  end(sent: boolean): void
}

/** All unsent calls of a page. */
export interface UnsentCalls {
  /** @param own the application's own texts. */
  add(call: MadeCall, own: Partial<UnsentTexts> | undefined): UnsentCall
  /**
   * Called when a form with an unsent call is submitted by its own button.
   * @param isSame whether its content is unchanged; if not, the unsent call is cancelled.
   */
  submitted(form: HTMLFormElement, isSame: boolean): void
}

/** Parts of the unsent calls. */
interface UnsentCallsParts {
  readonly window: Window
  /** Ids of actions with unsent calls; changed here, and `tell` is called then. */
  readonly unsent: Set<string>
  readonly tell: () => void
  now(): number
  readonly fetch: typeof fetch
  /** The document is being replaced. */
  keepDrafts(): void
  readonly unhidden: typeof unhidden
  readonly listeners: Pick<RouterListeners, 'unasked'>
}

/** Its texts. */
type UnsentTexts = Pick<
  Texts,
  | 'notSent'
  | 'notSentUnnamed'
  | 'offline'
  | 'unreachable'
  | 'busy'
  | 'itself'
  | 'back'
  | 'backLate'
  | 'sending'
  | 'sent'
  | 'again'
  | 'cancel'
>

const TEXTS: UnsentTexts = {
  notSent: '“%s” was not sent.',
  notSentUnnamed: 'This was not sent.',
  offline: 'There is no network.',
  unreachable: 'The site cannot be reached.',
  busy: 'The site has too much to do.',
  itself: 'It will be sent when the connection is back.',
  back: 'The connection is back. Send it now?',
  backLate: 'The connection is back. It may have arrived before. Send it again?',
  sending: 'Sending …',
  sent: 'Sent.',
  again: 'Try again',
  cancel: 'Cancel',
}

/** Facts and services that the calls of a page share. */
interface EntryWorld extends Pick<UnsentCallsParts, 'window' | 'now' | 'unhidden'> {
  readonly texts: UnsentTexts
  readonly bar: UnsentBar
}

/** One unsent call: its state, and its message to the visitor. */
class Entry {
  readonly call: MadeCall
  readonly row: UnsentRow
  /** The form has been changed since. */
  edited = false
  /** The sessions of the browser have changed since. */
  isUncertain: boolean
  /** The network is back. */
  back = false
  readonly #world: EntryWorld
  #why: UnsentReason = 'offline'
  /** Set while it waits. */
  #settle: ((again: boolean) => void) | undefined

  constructor(call: MadeCall, world: EntryWorld) {
    this.call = call
    this.isUncertain = call.isUncertain
    this.#world = world
    this.row = world.bar.add({ again: () => this.#again(), cancel: () => this.#cancel() }, world.texts)
  }

  get waits(): boolean {
    return this.#settle !== undefined
  }

  get sendsItself(): boolean {
    return !this.call.hasFile && !this.edited && !this.isUncertain && !this.#isLate
  }

  get #isLate(): boolean {
    return this.#world.now() - this.call.madeAt > SENDS_ITSELF_MS
  }

  ask(why: UnsentReason): Promise<boolean> {
    this.#why = why
    this.back = false
    return new Promise((resolve) => {
      this.#settle = resolve
      this.show()
    })
  }

  /** @param again whether to send it again; if not, it is cancelled. */
  settle(again: boolean): void {
    const go = this.#settle
    this.#settle = undefined
    if (again) this.show()
    go?.(again)
  }

  show(): void {
    const { texts } = this.#world
    if (this.waits) this.row.show(`${headlineOf(this.call, texts)} ${this.#reason()}`)
    else this.row.busy(texts.sending)
  }

  #reason(): string {
    const { texts, window } = this.#world
    if (this.back) return this.#isLate ? texts.backLate : texts.back
    const reason = this.#why === 'busy' ? texts.busy : window.navigator.onLine ? texts.unreachable : texts.offline
    return this.sendsItself ? `${reason} ${texts.itself}` : reason
  }

  #again(): void {
    if (!this.waits) return
    const { form, by } = this.call
    // Sends the form as it is shown now, by its own event.
    const members = form && this.#world.unhidden(form)
    if (members?.isConnected && this.edited) members.requestSubmit(submitterOf(form, by))
    else this.settle(true)
  }

  #cancel(): void {
    const { form } = this.call
    // React resets a form when its action is over, but the visitor has only cancelled the call, not the input.
    const { window } = this.#world
    const keep = (event: Event): void => {
      if (event.target === form) event.preventDefault()
    }
    window.addEventListener('reset', keep)
    setTimeout(() => window.removeEventListener('reset', keep), 1_000)
    this.settle(false)
  }
}

/** Bound: one for each pending call of a visitor. */
export function createUnsentCalls(parts: UnsentCallsParts): UnsentCalls {
  const { window, now, unhidden } = parts
  const world = { window, now, unhidden, bar: createUnsentBar(window.document, unhidden) }
  const entries = new Set<Entry>()
  const lookout = createLookout(window, () => void look())

  /** Checks whether the network is back, and again later. */
  async function look(): Promise<void> {
    const waiting = [...entries].filter((entry) => entry.waits)
    if (waiting.length === 0) return lookout.stop()
    lookout.wait()
    const isBack = window.navigator.onLine && (await reachSite(parts.fetch))
    for (const entry of waiting) {
      if (!entry.waits) continue
      if (isBack && entry.sendsItself) entry.settle(true)
      else {
        entry.back ||= isBack
        entry.show()
      }
    }
  }

  const listeners: Readonly<Record<string, (event: Event) => void>> = {
    online() {
      lookout.reset()
      void look()
    },
    offline() {
      for (const entry of entries) {
        entry.back = false
        entry.show()
      }
    },
    input(event: Event) {
      const path: readonly unknown[] = event.composedPath()
      for (const entry of entries) entry.edited ||= path.includes(entry.call.form)
    },
    'millrace:session'() {
      for (const entry of entries) {
        entry.isUncertain = true
        entry.show()
      }
    },
    'millrace:owner'() {
      for (const entry of entries) entry.settle(false)
    },
    beforeunload: (event: Event) => parts.listeners.unasked || event.preventDefault(),
    pagehide: parts.keepDrafts,
  }

  function listen(how: 'addEventListener' | 'removeEventListener'): void {
    for (const [type, listener] of Object.entries(listeners)) window[how](type, listener, true)
  }

  return {
    add(call, own) {
      const texts = { ...TEXTS, ...own }
      // Only while needed: browsers may not keep a page with such a listener for the back button.
      if (entries.size === 0) listen('addEventListener')
      const entry = new Entry(call, { ...world, texts })
      entries.add(entry)
      return {
        ask(why) {
          const answer = entry.ask(why)
          parts.unsent.add(call.id)
          parts.tell()
          lookout.waitLonger()
          return answer
        },
        again: () => entry.settle(true),
        end(sent) {
          if (!entries.delete(entry)) return
          parts.unsent.delete(call.id)
          parts.tell()
          if (entries.size === 0) listen('removeEventListener')
          entry.row.end(sent ? texts.sent : '', call.by, call.form)
          lookout.reset()
        },
      }
    },
    submitted(form, isSame) {
      for (const entry of entries) if (entry.call.form === form) entry.settle(isSame)
    },
  }
}

/** Decides when to check again whether the network is back. */
function createLookout(window: Window, look: () => void) {
  let timer: number | undefined
  let delay = FIRST_LOOK_MS

  function stop(): void {
    window.clearTimeout(timer)
  }

  function wait(): void {
    stop()
    timer = window.setTimeout(look, delay)
  }

  return {
    stop,
    wait,
    /** As `wait`, but twice as long as before. */
    waitLonger() {
      wait()
      delay = Math.min(delay * 2, LONGEST_LOOK_MS)
    },
    reset() {
      delay = FIRST_LOOK_MS
    },
  }
}

/** Whether this site is reachable: a captive portal, or a proxy without its server, answers something else. */
async function reachSite(ask: typeof fetch): Promise<boolean> {
  try {
    const answer = await ask(`${globalThis.MILLRACE_BASE_PATH || ''}/_m/build.json`, { cache: 'no-store' })
    return typeof ((await answer.json()) as { readonly buildId?: unknown }).buildId === 'string'
  } catch {
    return false
  }
}

/** The button that has submitted a form, because it may add a field. */
function submitterOf(form: HTMLFormElement | undefined, by: Element | undefined): HTMLElement | null {
  return by instanceof HTMLElement && by !== form && by.isConnected && (by as HTMLButtonElement).form === form
    ? by
    : null
}

const MOST_OF_A_NAME = 40 // characters

/** Message that a call was not sent, with the name of its button. */
function headlineOf({ by, label }: MadeCall, texts: UnsentTexts): string {
  const text = label || (by instanceof HTMLInputElement ? by.value : '')
  const name = text.replaceAll(/\s+/g, ' ').trim()
  const short = name.length > MOST_OF_A_NAME ? `${name.slice(0, MOST_OF_A_NAME - 1)}…` : name
  return short === '' ? texts.notSentUnnamed : texts.notSent.replace('%s', () => short)
}
