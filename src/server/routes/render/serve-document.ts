import { createElement, type ComponentType, type ReactNode } from 'react'
import { isCrawler } from './crawler.ts'
import type { DocumentProps, PageModule } from '../../../client/module-types.ts'
import type { ModuleCache } from '../../../client/react/module-cache.ts'
import { routeTree } from '../../../client/react/route-tree.tsx'
import { ServerDocumentContext } from '../../../client/react/server-document.ts'
import {
  layoutId,
  shownChain,
  viewMetadata,
  viewModules,
  type Outcome,
  type RouteView,
} from '../../../client/react/route-view.ts'
import { REFUSAL_STATUS } from '../../../shared/control-flow.ts'
import { earlyModuleFault } from '../../../shared/route-shell-faults.ts'
import type { HydrationState } from '../../../shared/protocol/hydration-data.ts'
import type { RouteDataHead, SegmentMeta } from '../../../shared/protocol/route-data.ts'
import { endWithAnswer, replacementOf, type ShownFallback, type Stopped } from '../decide/stopped.ts'
import { hasForm, withKey, type PostedForm } from './form-state.ts'
import type { AssetManifest } from '../../assets/manifest.ts'
import { watchPromises } from '../load/watch-promises.ts'
import type { RequestContext } from '../../request/context.ts'
import type { DocumentMaking } from '../../request/document-making.ts'
import type { MeasuredPart } from '../../request/request-record.ts'
import { formTarget, withForms, type FormTarget } from './form-target.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import { documentCaching } from '../../request/answer/caching.ts'
import { retryHeaders } from '../../request/answer/judge-thrown.ts'
import { createHydrationDataWriter, type HydrationExtras } from './hydration-data-writer.ts'
import type { HtmlMarks } from './html-marks.ts'
import { createInsertedHtml } from './inserted-html.ts'
import { giveUp, idPrefix, renderStream, renderWhole, type Live, type Thrown, type Whole } from './render-attempt.ts'
import { handOver } from './hand-over.ts'
import { renderToEnd } from './render-to-end.ts'
import { createDocumentAssets, type SharedMarkup } from './route-assets.ts'
import { normalizeThrown } from '../../request/answer/normalize-thrown.ts'
import { hasPageForStrangers, makeShell } from './make-shell.ts'
import { sendWhole, type DocumentParts } from './send-document.ts'
import { sendKeptPage, type KeptPage } from './send-kept-page.ts'
import { sendStream } from './send-stream.ts'
import { WholeAttempts } from './whole-attempts.ts'
import { sendConstantPage, sendPageRedirect } from '../../request/answer/send-plain.ts'

/** Renders documents. */
export interface DocumentRenderer {
  /**
   * Renders a view and sends it. Errors lead to the nearest fallback, and if all fallbacks fail, to a constant page:
   * the promise does not reject.
   */
  serve(view: RouteView, request: DocumentRequest, context: RequestContext): Promise<void>
  /** Sends a kept shell with the slots of this visitor. */
  resume(kept: KeptPage, context: RequestContext): void
}

/** One document. */
interface DocumentRequest {
  /** Key of the matched route, `null` if none matched. */
  readonly route: string | null
  /** Ids of the segments with a promise among the members of their data. */
  readonly deferred: ReadonlySet<string>
  /** Facts about the data for the browser's cache, by segment id. */
  readonly meta?: Readonly<Record<string, SegmentMeta>> | undefined
  /** Set if the page's data is a promise, because its loader still runs. */
  readonly late?: HydrationExtras['late']
  /** A form was posted to this page: its status, and the state for React. */
  readonly posted?: PostedForm | undefined
  /** The page's search params; those of the view may be tracked. */
  readonly search: unknown
  /** Whether no schema has parsed them. */
  readonly isRaw: boolean
  /** Keeps the page's document for overload. */
  readonly keep?: DocumentParts['keep']
  /**
   * After rendering: its search params without those that nothing has read, because they are the visitor's own.
   * @param namesQuery whether the document contains the whole query.
   */
  readonly searchForAll?: (namesQuery: boolean) => unknown
  /** Why the page is not shown. */
  readonly stopped?: Stopped | undefined
}

/** Parts of a renderer. */
interface RendererParts {
  readonly document: ComponentType<DocumentProps>
  readonly modules: ModuleCache
  readonly manifest: AssetManifest
  /** Markup that all documents share. */
  readonly shared: SharedMarkup
  /** Milliseconds after which a waiting render is aborted. */
  readonly renderTimeoutMs: number
  /** The parts of a URL on which the choice of its route depends; see `routeScope`. */
  readonly scope: NonNullable<RouteDataHead['scope']>
  /** Whether the pages become files. */
  readonly forFiles: boolean
  /** See `askedRoutes`. */
  readonly asks: HydrationState['asks'] | undefined
}

/** Next attempt: the view with its fallback, and the failure that decides the status. */
interface Attempt {
  readonly view: RouteView
  readonly failure?: Pick<ShownFallback, 'status' | 'retryAfter'>
}

/** Creates the renderer of an application. */
export function createDocumentRenderer(parts: RendererParts): DocumentRenderer {
  const rendering = new DocumentRendering(parts)
  return {
    resume: (kept, context) => rendering.resume(kept, context),
    async serve(first, request, context) {
      let { stopped } = request
      let attempt: Attempt | undefined = { view: first }
      while (context.aborted?.cause !== 'gone') {
        if (stopped !== undefined) {
          endWithAnswer(context)
          attempt = fallBack(attempt.view, stopped, context)
        }
        if (attempt === undefined) return
        const { view } = attempt
        try {
          const thrown = await rendering.send(attempt, request, context)
          if (thrown === undefined) return
          stopped = stoppedIn(view, thrown.thrown)
        } catch (met) {
          const error = normalizeThrown(met)
          reportFailure(error, context, 'render')
          if (context.res.headersSent) return void context.res.destroy()
          stopped = stoppedIn(view, error)
        }
      }
    },
  }
}

/** @returns the next attempt; `undefined` if the request has been answered: by a redirect, or the last resort. */
function fallBack(view: RouteView, stopped: Stopped, context: RequestContext): Attempt | undefined {
  const replaced = replacementOf(stopped, view.chain, context)
  if (replaced.kind === 'redirect') return void sendPageRedirect(context, replaced)
  const { status, boundary: kind, at, digest } = replaced
  const failed = digest === undefined ? {} : { digest }
  // No entry of the chain has a fallback for it, or all of them have failed.
  if (at === undefined) return void sendConstantPage(context, { status, ...failed }, retryHeaders(replaced))
  if (digest === undefined) return { view: withFallback(view, { kind, at }) }
  return { view: withFallback(view, { kind, at, digest, ...(status !== 500 && { status }) }), failure: replaced }
}

/** A rendered page that is about to be sent. */
interface Rendering {
  readonly tree: ReactNode
  readonly forms: FormTarget
  readonly html: HtmlMarks
  /** @param posted the state for React. */
  readonly partsOf: (posted?: DocumentRequest['posted'], streamed?: HydrationExtras['streamed']) => DocumentParts
}

/** A shell, with the state that its form has got. */
interface Streamed extends Live {
  readonly posted: DocumentRequest['posted']
}

type Made = Whole | Thrown | Streamed

const SHELL: MeasuredPart<Made> = {
  kind: 'shell',
  spanName: ({ kind }) => (kind === 'thrown' ? undefined : kind === 'whole' ? kind : 'shell'),
  thrownIn: (made) => (made.kind === 'thrown' ? [made.thrown] : undefined),
}

/** Renders and sends: whole if nothing is pending, otherwise as a stream. */
class DocumentRendering {
  readonly #parts: RendererParts
  readonly #hydrationDataOf: ReturnType<typeof createHydrationDataWriter>
  readonly #assetsOf: ReturnType<typeof createDocumentAssets>
  readonly #wholeAttempts = new WholeAttempts(() => performance.now())

  constructor(parts: RendererParts) {
    this.#parts = parts
    this.#hydrationDataOf = createHydrationDataWriter(parts.manifest.buildId, parts)
    this.#assetsOf = createDocumentAssets(parts.manifest, parts.shared)
  }

  /** @returns the thrown value if there was nothing to send. */
  async send(attempt: Attempt, request: DocumentRequest, context: RequestContext): Promise<Thrown | undefined> {
    const loading = this.#parts.modules.load(viewModules(attempt.view))
    if (loading !== undefined) await loading
    if (request.late !== undefined) refuseLateHead(attempt.view, this.#parts.modules)
    if (context.making !== undefined) return this.#makeForAll(attempt, request, context.making, context)
    const rendering = this.#prepare(attempt, request, context)
    const asked = {
      route: request.route ?? '',
      pathname: context.pathname,
      search: context.search,
      clientAddress: context.clientAddress,
      mayBeShared: () => documentCaching(context, 200).shared,
    }
    // Only a stream accepts a posted state.
    const canBeWhole =
      request.posted === undefined &&
      !Object.keys(attempt.view.data).some((id) => request.deferred.has(id)) &&
      this.#wholeAttempts.isWorth(asked)
    const making = context.record.measure(SHELL, () => this.#make(rendering, canBeWhole, request, context))
    const made = making instanceof Promise ? await making : making
    if (made.kind === 'thrown') return made
    if (canBeWhole) this.#wholeAttempts.note(made.kind === 'whole', asked)
    if (made.kind === 'whole') {
      await sendWhole(made.html, rendering.partsOf(), context)
      return undefined
    }
    context.record.measureRest('stream', 'holes')
    const react = { identifierPrefix: idPrefix(context.nonce) }
    const { renderTimeoutMs: deadline } = this.#parts
    try {
      sendStream(made.stream, rendering.partsOf(made.posted, { deadline, react }), context)
    } catch (thrown) {
      giveUp(made.stream)
      throw thrown
    }
    return undefined
  }

  /** Renders a document for all visitors, until nothing is pending; with slots also the shell for visitors with some. */
  async #makeForAll(
    attempt: Attempt,
    request: DocumentRequest,
    making: DocumentMaking,
    context: RequestContext,
  ): Promise<Thrown | undefined> {
    const { renderTimeoutMs: deadline } = this.#parts
    context.startDeadline(deadline)
    const { view } = attempt
    const { tree, forms, partsOf } = this.#prepare(attempt, request, context)
    let html: string | undefined
    if (await hasPageForStrangers(making)) {
      const made = await context.record.measure(SHELL, () => withForms(forms, () => renderToEnd(tree, context)))
      if (made.kind === 'thrown') return made
      html = made.html
    }
    if (making.slots.size === 0 || view.outcome !== undefined) {
      await handOver({ html, slots: undefined }, partsOf(), context, making)
      return undefined
    }
    const slots = await makeShell(
      {
        view,
        partsOf: (streamed) => partsOf(undefined, streamed),
        prepare: (data) => this.#prepare({ ...attempt, view: { ...view, data } }, request, context),
        searchForAll: (namesQuery) => request.searchForAll?.(namesQuery || forms.namesQuery === true) ?? request.search,
        facts: { metas: request.meta ?? {}, isParsed: !request.isRaw },
        deadline,
      },
      making,
      context,
    )
    if ('thrown' in slots) return slots
    await handOver({ html, slots }, partsOf(), context, making)
    return undefined
  }

  /** Sends a kept shell, and renders its slots. */
  resume(kept: KeptPage, context: RequestContext): void {
    sendKeptPage(kept, { ...this.#parts, assets: this.#assetsOf(kept.view) }, context)
  }

  /** Renders at once if nothing is pending, otherwise until the shell is ready. */
  #make(
    rendering: Rendering,
    canBeWhole: boolean,
    request: DocumentRequest,
    context: RequestContext,
  ): Made | Promise<Made> {
    if (canBeWhole) {
      const { tree, forms } = rendering
      const startedAt = performance.now()
      const whole = withForms(forms, () => renderWhole(tree))
      if (whole?.kind === 'thrown' || (whole !== undefined && forms.stateForms.length === 0)) return whole
      context.record.discardedMs += performance.now() - startedAt
    }
    return this.#stream(rendering, request, context)
  }

  #prepare({ view, failure }: Attempt, request: DocumentRequest, context: RequestContext): Rendering {
    const { document, modules } = this.#parts
    const { meta: metas, route, keep } = request
    const metadata = watchPromises(viewMetadata(view, modules), context, 'render')
    const forms = formTarget(context)
    const inserted = createInsertedHtml(context)
    return {
      // Around the tree and not in it, because browsers do not need it.
      tree: createElement(
        ServerDocumentContext,
        { value: inserted.document },
        routeTree({ document, view: { ...view, location: forms }, modules, metadata }),
      ),
      forms,
      html: inserted.html,
      partsOf: (posted, streamed) => ({
        status:
          failure?.status ?? (posted !== undefined && posted.status > 200 ? posted.status : statusOf(view.outcome)),
        retryAfter: failure?.retryAfter,
        view,
        metadata,
        assets: this.#assetsOf(view),
        hydrationData: this.#hydrationDataOf({ ...view, search: request.search }, route, context, {
          metas,
          posted: posted?.state,
          streamed,
          late: view.outcome === undefined ? request.late : undefined,
          html: inserted.html,
        }),
        hydrationDataForAll: () => {
          const search = request.searchForAll?.(forms.namesQuery === true)
          return search === undefined || search === request.search
            ? undefined
            : this.#hydrationDataOf({ ...view, search }, route, context, { metas, html: inserted.html })
        },
        forms,
        keep,
        inserted,
      }),
    }
  }

  async #stream(
    { tree, forms, html }: Rendering,
    request: DocumentRequest,
    context: RequestContext,
  ): Promise<Thrown | Streamed> {
    context.startDeadline(this.#parts.renderTimeoutMs)
    let { posted } = request
    const whole = isCrawler(context.req.headers['user-agent'])
    const render = (to: FormTarget, toTheEnd: () => boolean) => {
      to.isStreamed = true
      html.begin(idPrefix(context.nonce))
      return withForms(to, () => renderStream(tree, context, toTheEnd, posted?.state))
    }
    // The posted form may be inside a pending boundary, or have another key here.
    let attempt = await render(forms, () => whole || (posted && !hasForm(posted.state, forms.stateForms)) === true)
    const keyed = posted && withKey(posted, forms.stateForms)
    if (posted !== undefined && keyed !== undefined && attempt.kind === 'stream') {
      // Only React can name the form to which the state belongs, and does so during rendering.
      giveUp(attempt.stream)
      posted = { ...posted, state: keyed }
      attempt = await render(formTarget(context), () => whole)
    }
    return attempt.kind === 'thrown' ? attempt : { ...attempt, posted }
  }
}

/** The build finds it as well; an application in development and in tests has none. @throws {TypeError} */
function refuseLateHead({ chain, outcome }: RouteView, modules: ModuleCache): void {
  const { key, definition } = chain.at(-1) ?? {}
  if (outcome !== undefined || definition?.page === undefined) return
  const fault = earlyModuleFault(modules.get(definition.page) as PageModule)
  if (fault !== undefined) throw new TypeError(`The page of '${key}' ${fault}`)
}

/** The browser gets only the data of shown segments: the refused page may contain data that nobody should see. */
function withFallback(view: RouteView, outcome: Outcome): RouteView {
  const shown = shownChain({ chain: view.chain, outcome }).map(({ key }) => layoutId(key))
  const data = Object.fromEntries(Object.entries(view.data).filter(([id]) => shown.includes(id)))
  return { ...view, data, outcome }
}

/** Each further attempt starts its search above the fallback that failed. */
function stoppedIn({ chain, outcome }: RouteView, thrown: unknown): Stopped {
  if (outcome === undefined) return { thrown, boundaryFrom: chain.length - 1 }
  return { thrown, boundaryFrom: outcome.at - 1, isFailure: outcome.kind === 'error' }
}

function statusOf(outcome: Outcome | undefined): number {
  if (outcome === undefined) return 200
  return outcome.kind === 'error' ? 500 : REFUSAL_STATUS[outcome.kind]
}
