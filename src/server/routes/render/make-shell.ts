import type { ReactNode } from 'react'
import type { RouteView } from '../../../client/react/route-view.ts'
import { textsOf } from '../../request/answer/texts.ts'
import type { RequestContext } from '../../request/context.ts'
import type { DocumentMaking } from '../../request/document-making.ts'
import { MIN_ENCODED_BYTES } from '../../http/content-encoding.ts'
import { startGzip } from '../../http/gzip-member.ts'
import { MOST_SHELL_BYTES, shellBytes, type StoredShell } from '../../stores/cache/stored-shell.ts'
import { jsonLdTags } from './compose-document.ts'
import { DOCUMENT_END, headStart } from './document-markup.ts'
import type { FormTarget } from './form-target.ts'
import { withForms } from './form-target.ts'
import { holeStyles } from './hole-styles.ts'
import { prerenderShell, type HeldPromise } from './prerender-shell.ts'
import { idPrefix, type Thrown } from './render-attempt.ts'
import type { HtmlMarks } from './html-marks.ts'
import type { HydrationExtras } from './hydration-data-writer.ts'
import { givenToPage, type DocumentParts } from './send-document.ts'
import { storeValues } from './store-values.ts'

/** A render of the page for everybody. */
interface SharedRender {
  readonly view: RouteView
  /** Its parts, with the values as its loaders have returned them. */
  partsOf(streamed: Required<HydrationExtras>['streamed']): Pick<DocumentParts, 'hydrationData'>
  /** Prepares a render of the same page with other data. */
  prepare(data: RouteView['data']): {
    readonly tree: ReactNode
    readonly forms: FormTarget
    readonly html: HtmlMarks
    readonly partsOf: () => Pick<DocumentParts, 'assets' | 'inserted' | 'metadata'>
  }
  /** As `DocumentRequest`: after rendering. */
  searchForAll(namesQuery: boolean): unknown
  /** What the data says besides. */
  readonly facts: Pick<StoredShell, 'metas' | 'isParsed'>
  /** Milliseconds within which a document with slots is finished. */
  readonly deadline: number
}

/** Why a page with slots has no shell that is kept. */
export interface NoStoredShell {
  readonly reason: string
}

/**
 * Makes the shell of a page with slots.
 * @returns what was thrown while it was rendered; the reason if it cannot be kept.
 */
export async function makeShell(
  render: SharedRender,
  making: DocumentMaking,
  context: RequestContext,
): Promise<StoredShell | NoStoredShell | Thrown> {
  const { slots } = making
  const { data } = render.view
  const first = await storeValues({ search: undefined, data }, slots)
  const shared = (await first.values.read()).data
  const react = { identifierPrefix: idPrefix(context.nonce) }
  let prepared = render.prepare(data)
  const treeOf = (hold: () => HeldPromise): ReactNode => {
    const own = Object.entries(shared).map(([id, value]) => [
      id,
      slots.has(id) ? { ...(value as object), visitor: hold() } : value,
    ])
    prepared = render.prepare(Object.fromEntries(own))
    prepared.html.begin(react.identifierPrefix)
    return prepared.tree
  }
  const made = await prerenderShell(treeOf, react.identifierPrefix, {
    context,
    within: (start) => withForms(prepared.forms, start),
  })
  if (made.kind === 'thrown') return made
  if (made.kind === 'none') return made
  const { assets, inserted, metadata } = prepared.partsOf()
  const besides = inserted.take() + jsonLdTags(metadata)
  if (inserted.hasNonce()) return { reason: 'nonce' }
  const { html, postponed, scripts } = made
  const search = render.searchForAll(prepared.forms.namesQuery === true)
  const { values, chunks } = await storeValues({ search, data }, slots, prepared.html.formIn(html))
  const element = render.partsOf({ deadline: render.deadline, react }).hydrationData.withChunks(chunks)
  const at = headStart(html)
  const head = html.slice(0, at) + assets.head('', true, holeStyles('', textsOf(context))) + besides
  const body = Buffer.from(head + html.slice(at, -DOCUMENT_END.length) + element)
  const shell: StoredShell = {
    body,
    gzip: body.length < MIN_ENCODED_BYTES ? undefined : await startGzip(body),
    postponed,
    scripts,
    values,
    marks: prepared.html.byHash(),
    given: givenToPage(context),
    at: context.readAt,
    ...render.facts,
  }
  return shellBytes(shell) > MOST_SHELL_BYTES ? { reason: 'too large' } : shell
}

/** Whether there is a complete page for visitors of whom nothing is known. */
export async function hasPageForStrangers({ slots, reads }: DocumentMaking): Promise<boolean> {
  if (slots.size === 0) return true
  const ofAll = Promise.withResolvers<undefined>()
  const stop = reads.onOfAll(() => ofAll.resolve(undefined))
  const settled = await Promise.race([Promise.allSettled(slots.values()), ofAll.promise])
  stop()
  return !reads.isOfAll && settled?.every(({ status }) => status === 'fulfilled') === true
}
