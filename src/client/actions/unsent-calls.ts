import { createUnsentBar, type UnsentRow } from './unsent-bar.ts'
import type { UnsentTexts } from './unsent-bar.ts'

/**
 * Calls that the network has kept from the server, or their answers from the browser. Each is shown until it is sent or
 * given up. This module is loaded ahead, for it is needed when nothing can be loaded.
 *
 * | state   | again (visitor)     | network is back                    | ask (not sent again) | cancel  | end  |
 * |---------|---------------------|------------------------------------|----------------------|---------|------|
 * | waiting | sending             | sending; waiting if one must ask   | -                    | over    | over |
 * | sending | -                   | -                                  | waiting              | -       | over |
 */

/**
 * For how long a call may send itself, in ms from its beginning: the server tells repetitions by their key for ten minutes,
 * and what is sent in the last of them may arrive later.
 */
export const SENDS_ITSELF_MS = 540_000

const FIRST_LOOK_MS = 5_000 // a server that restarts is back by then; the retries of the call have seen to less
const LONGEST_LOOK_MS = 60_000

/** Why a call was not sent: nobody answers, or the server has too much to do. */
export type UnsentReason = 'offline' | 'busy'

/** A call that was made. */
export interface MadeCall {
  /** When, in milliseconds since the epoch. */
  readonly madeAt: number
  /** Files may be large, and the connection one that costs: they are never sent without being asked for. */
  readonly hasFile: boolean
  /** The form that was sent, or what was clicked. */
  readonly by: Element | undefined
  readonly form: HTMLFormElement | undefined
  /** The text of what was pressed, as it was then. */
  readonly label?: string | null | undefined
}

/** One of them that was not sent. */
export interface UnsentCall {
  /** Says so, and resolves with whether it is to be sent again; if not, the visitor has given it up. */
  ask(why: UnsentReason): Promise<boolean>
  /** Sends it again, as its button does; nothing while it is on its way. */
  again(): void
  /** The call is over. @param sent whether the server has answered. */
  end(sent: boolean): void
}

/** All calls of a page that were not sent. */
export interface UnsentCalls {
  add(call: MadeCall): UnsentCall
  /**
   * A form whose call was not sent is being sent by its own button.
   * @param isSame whether it holds what it held; if not, what it held is given up.
   */
  submitted(form: HTMLFormElement, isSame: boolean): void
  /** How many there are. */
  readonly size: number
}

/** What it is made of. */
export interface UnsentCallsParts {
  readonly window: Window
  readonly texts?: Partial<UnsentTexts> | undefined
  now(): number
  readonly fetch: typeof fetch
  /** The document goes away. */
  keepDrafts(): void
}

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

/** A call of the set. */
interface Entry {
  readonly call: MadeCall
  readonly row: UnsentRow
  /** Set while it waits. */
  settle: ((again: boolean) => void) | undefined
  why: UnsentReason
  /** Something of the form was changed since. */
  edited: boolean
  /** The network is back. */
  back: boolean
}

/** Bound: one for each call that a visitor makes and that is not over. */
export function createUnsentCalls(parts: UnsentCallsParts): UnsentCalls {
  const { window, now } = parts
  const { navigator } = window
  const texts = { ...TEXTS, ...parts.texts }
  const bar = createUnsentBar(window.document, texts)
  const entries = new Set<Entry>()
  const lookout = createLookout(window, () => void look())
  let stopListening: () => void

  const isLate = ({ call }: Entry): boolean => now() - call.madeAt > SENDS_ITSELF_MS
  const sendsItself = (entry: Entry): boolean => !entry.call.hasFile && !entry.edited && !isLate(entry)

  function show(entry: Entry): void {
    const { row, why, back } = entry
    if (!entry.settle) return row.busy(texts.sending)
    const reason = why === 'busy' ? texts.busy : navigator.onLine ? texts.unreachable : texts.offline
    const hint = back ? (isLate(entry) ? texts.backLate : texts.back) : reason
    row.show(`${headlineOf(entry.call, texts)} ${hint}${!back && sendsItself(entry) ? ` ${texts.itself}` : ''}`)
  }

  function settle(entry: Entry, again: boolean): void {
    const { settle: go } = entry
    entry.settle = undefined
    if (again) show(entry)
    go?.(again)
  }

  function again(entry: Entry): void {
    if (!entry.settle) return
    const { form, by } = entry.call
    // What is seen is sent, and not what was there before; the form says so by its own event.
    if (form?.isConnected && entry.edited) form.requestSubmit(submitterOf(form, by))
    else settle(entry, true)
  }

  /** Asks whether the network is back, and again later. */
  async function look(): Promise<void> {
    const waiting = [...entries].filter((entry) => entry.settle)
    if (waiting.length === 0) return lookout.stop()
    lookout.wait()
    const isBack = navigator.onLine && (await reachSite(parts.fetch))
    for (const entry of waiting) {
      if (!entry.settle) continue
      if (isBack && sendsItself(entry)) settle(entry, true)
      else {
        entry.back ||= isBack
        show(entry)
      }
    }
  }

  const listeners = {
    online() {
      lookout.reset()
      void look()
    },
    offline() {
      for (const entry of entries) {
        entry.back = false
        show(entry)
      }
    },
    input({ target }: Event) {
      for (const entry of entries) entry.edited ||= entry.call.form?.contains(target as Node) === true
    },
    beforeunload: (event: Event) => event.preventDefault(),
    pagehide: parts.keepDrafts,
  }

  return {
    get size() {
      return entries.size
    },
    add(call) {
      // Only while needed: a page that asks before it is left may not be kept for the back button.
      if (entries.size === 0) stopListening = listen(window, listeners)
      const cancel = (): void => {
        keepFields(window, call.form)
        settle(entry, false)
      }
      const row = bar.add({ again: () => again(entry), cancel })
      const entry: Entry = { call, row, settle: undefined, why: 'offline', edited: false, back: false }
      entries.add(entry)
      return {
        ask: (why) =>
          new Promise((resolve) => {
            Object.assign(entry, { settle: resolve, why, back: false })
            show(entry)
            lookout.waitLonger()
          }),
        again: () => settle(entry, true),
        end(sent) {
          if (!entries.delete(entry)) return
          if (entries.size === 0) stopListening()
          row.end(sent ? texts.sent : '', call.by, call.form)
          lookout.reset()
        },
      }
    },
    submitted(form, isSame) {
      for (const entry of entries) if (entry.call.form === form) settle(entry, isSame)
    },
  }
}

/** When to look again whether the network is back. */
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
    /** As `wait`, and the next time twice as long. */
    waitLonger() {
      wait()
      delay = Math.min(delay * 2, LONGEST_LOOK_MS)
    },
    reset() {
      delay = FIRST_LOOK_MS
    },
  }
}

/** @returns removes the listeners. */
function listen(window: Window, listeners: Readonly<Record<string, (event: Event) => void>>): () => void {
  const over = new AbortController()
  const options = { capture: true, signal: over.signal }
  for (const [type, listener] of Object.entries(listeners)) window.addEventListener(type, listener, options)
  return () => over.abort()
}

/** React empties a form whose action is over. What was typed is not what the visitor has given up. */
function keepFields(window: Window, form: HTMLFormElement | undefined): void {
  const keep = (event: Event): void => event.preventDefault()
  form?.addEventListener('reset', keep)
  window.setTimeout(() => form?.removeEventListener('reset', keep), 1_000)
}

/** Whether this site can be reached: a portal, or a proxy whose server is gone, answers something else. */
async function reachSite(ask: typeof fetch): Promise<boolean> {
  try {
    const answer = await ask('/_m/build.json', { cache: 'no-store' })
    return typeof ((await answer.json()) as { readonly buildId?: unknown }).buildId === 'string'
  } catch {
    return false
  }
}

/** The button that has sent a form, for what it adds to the fields. */
function submitterOf(form: HTMLFormElement, by: Element | undefined): HTMLElement | null {
  return by instanceof HTMLElement && by !== form && by.isConnected && (by as HTMLButtonElement).form === form
    ? by
    : null
}

const MOST_OF_A_NAME = 40 // characters

/** Says that a call was not sent, with the name of its button. */
function headlineOf({ by, label }: MadeCall, texts: UnsentTexts): string {
  const text = label || by?.closest('input')?.value || ''
  const name = text.replaceAll(/\s+/g, ' ').trim()
  const short = name.length > MOST_OF_A_NAME ? `${name.slice(0, MOST_OF_A_NAME - 1)}…` : name
  return short === '' ? texts.notSentUnnamed : texts.notSent.replace('%s', () => short)
}
