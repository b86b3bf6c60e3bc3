import { hash } from 'node:crypto'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import type { Readable } from 'node:stream'
import { createElement, Suspense, use, type ReactNode } from 'react'
import { prerenderToNodeStream } from 'react-dom/static'
import { reportFailure } from '../../request/answer/failure.ts'
import { normalizeThrown } from '../../request/answer/normalize-thrown.ts'
import type { RequestContext } from '../../request/context.ts'
import { DOCUMENT_END } from './document-markup.ts'
import { PART, type Thrown } from './render-attempt.ts'

/** A document whose slots are open. */
export interface PrerenderedShell {
  readonly kind: 'shell'
  readonly html: string
  /** React's state as JSON; `undefined` if nothing waits. */
  readonly postponed: string | undefined
  /** Source expressions of its inline scripts, for the policy. */
  readonly scripts: readonly string[]
}

/** A page that has no shell that could be kept. */
interface NoShell {
  readonly kind: 'none'
  readonly reason: 'suspends' | 'script'
}

const TURNS = 3 // React renders in the first; what resolves at once may take another
const ATTEMPTS = 2 // a lazy component loads during the first
const RETRY_MS = 50

/** Reason of the end of a render in which only the slots are open. */
const HELD = new Error('The slots of a kept page wait for their visitors')

/** Takes the place of what belongs to a visitor: it never settles, and counts the components that wait for it. */
export class HeldPromise implements PromiseLike<never> {
  /** Otherwise React would attach another listener, to track it. */
  readonly status = 'pending'
  readonly #waiting: { count: number }

  constructor(waiting: { count: number }) {
    this.#waiting = waiting
  }

  // oxlint-disable-next-line unicorn/no-thenable -- React asks for it
  then(kept?: unknown, rejected?: unknown): never {
    // An author's own, for a promise of a part of it.
    if (typeof kept !== 'function' || typeof rejected !== 'function') return new HeldPromise(this.#waiting) as never
    // React's two listeners of a component that waits differ.
    if (kept !== rejected) this.#waiting.count += 1
    return undefined as never
  }

  catch(): unknown {
    return new HeldPromise(this.#waiting)
  }

  finally(): unknown {
    return new HeldPromise(this.#waiting)
  }
}

/** The surroundings of a render. */
interface ShellRender {
  readonly context: RequestContext
  /** Starts it: what it needs is in its async context. */
  within<Result>(start: () => Result): Result
}

/**
 * Renders a tree in which slots are open, and nothing else.
 * @param tree given promises for the slots.
 */
export async function prerenderShell(
  tree: (hold: () => HeldPromise) => ReactNode,
  identifierPrefix: string,
  render: ShellRender,
): Promise<PrerenderedShell | NoShell | Thrown> {
  for (let attempt = 1; ; attempt += 1) {
    const made = await attemptShell(tree, identifierPrefix, render)
    if (made.kind !== 'none' || made.reason !== 'suspends' || attempt === ATTEMPTS) return made
    await delay(RETRY_MS)
  }
}

async function attemptShell(
  treeOf: (hold: () => HeldPromise) => ReactNode,
  identifierPrefix: string,
  { context, within }: ShellRender,
): Promise<PrerenderedShell | NoShell | Thrown> {
  const waiting = { count: 0 }
  const thrown: unknown[] = []
  let left = 0
  const tree = treeOf(() => new HeldPromise(waiting))
  const options: HeldRender = {
    identifierPrefix,
    onAbort: (listener) => context.onAbort(listener),
    onError(met, { componentStack }) {
      if (met === HELD) return void (left += 1)
      const error = normalizeThrown(met)
      if (PART.test(componentStack ?? '')) context.making?.note('failed')
      thrown.push(error)
      return reportFailure(error, context, 'render')
    },
  }
  const { html, postponed } = await within(() => renderHeld(tree, options))
  if (thrown.length > 0) return { kind: 'thrown', thrown: thrown[0] }
  if (left !== waiting.count || !html.endsWith(DOCUMENT_END)) return { kind: 'none', reason: 'suspends' }
  const known = await knownScripts()
  const scripts = executableScripts(html)
  if (!scripts.every((script) => known.has(script))) return { kind: 'none', reason: 'script' }
  return {
    kind: 'shell',
    html,
    postponed: postponed ?? undefined,
    scripts: [...new Set(scripts)].map((script) => `'sha256-${hash('sha256', script, 'base64')}'`),
  }
}

interface HeldRender {
  readonly identifierPrefix?: string
  readonly onAbort?: (listener: (reason: Error) => void) => void
  readonly onError: (met: unknown, info: { readonly componentStack?: string }) => string | undefined | void
}

async function renderHeld(
  tree: ReactNode,
  { onAbort, ...options }: HeldRender,
): Promise<{ readonly html: string; readonly postponed: string | null }> {
  const controller = new AbortController()
  onAbort?.((reason) => controller.abort(reason))
  const rendering = prerenderToNodeStream(tree, {
    ...options,
    progressiveChunkSize: Infinity,
    signal: controller.signal,
  } as Parameters<typeof prerenderToNodeStream>[1])
  for (let turn = 0; turn < TURNS; turn += 1) await nextTurn()
  controller.abort(HELD)
  const { prelude, postponed } = await rendering
  return {
    html: (await (prelude as Readable).setEncoding('utf8').toArray()).join(''),
    postponed: postponed === null ? null : JSON.stringify(postponed),
  }
}

const SCRIPT = /<script\b([^>]*)>([^<]*)/gi
const DATA_TYPE = /\stype="(?!(?:module|importmap|text\/javascript)")/i
const SOURCE = /\ssrc=/i

/** The inline scripts that browsers would run. */
function executableScripts(html: string): readonly string[] {
  return [...html.matchAll(SCRIPT)].flatMap(([, attributes = '', text = '']) =>
    DATA_TYPE.test(attributes) || SOURCE.test(attributes) ? [] : [text],
  )
}

function Hole({ value }: { readonly value: PromiseLike<never> }): ReactNode {
  return use(value)
}

const probe: { scripts?: Promise<ReadonlySet<string>> } = {}

/** The inline scripts that the installed React puts into each shell. */
function knownScripts(): Promise<ReadonlySet<string>> {
  return (probe.scripts ??= (async () => {
    const hole = createElement(Hole, { value: new HeldPromise({ count: 0 }) })
    const body = createElement('body', null, createElement(Suspense, { fallback: 'hole' }, hole))
    const { html } = await renderHeld(createElement('html', null, createElement('head'), body), {
      onError: () => undefined,
    })
    return new Set(executableScripts(html))
  })())
}
