import { createElement, type ComponentType } from 'react'
import type { DocumentProps } from '../../../client/module-types.ts'
import type { ModuleCache } from '../../../client/react/module-cache.ts'
import { routeTree } from '../../../client/react/route-tree.tsx'
import type { RouteView } from '../../../client/react/route-view.ts'
import { ServerDocumentContext } from '../../../client/react/server-document.ts'
import type { OpenPromise } from '../../../shared/protocol/value-frames.ts'
import type { HeaderList } from '../../http/header-list.ts'
import type { RequestContext } from '../../request/context.ts'
import type { StoredShell } from '../../stores/cache/stored-shell.ts'
import { formTarget, withForms } from './form-target.ts'
import { startSlots } from './hydration-data-writer.ts'
import { createInsertedHtml } from './inserted-html.ts'
import { idPrefix, type LiveStream } from './render-attempt.ts'
import { resumeShell } from './resume-shell.ts'
import type { DocumentAssets } from './route-assets.ts'
import { sendShell } from './send-shell.ts'

/** A kept shell, and what one visitor gets with it. */
export interface KeptPage {
  readonly shell: StoredShell
  readonly view: RouteView
  /** Headers about the shell. */
  readonly about: HeaderList
  /** Starts what belongs to this visitor. Not called if nobody reads it. */
  start(): StartedSlots
}

/** What belongs to one visitor. */
interface StartedSlots {
  /** With its promises. */
  readonly data: RouteView['data']
  /** Those promises, with their numbers in the hydration data of the shell. */
  readonly open: readonly OpenPromise[]
}

/** Parts of the application for its slots. */
interface SlotParts {
  readonly document: ComponentType<DocumentProps>
  readonly modules: ModuleCache
  readonly assets: DocumentAssets
}

/** Sends a kept shell, and renders its slots. */
export function sendKeptPage(
  { shell, view, about, start }: KeptPage,
  { document, modules, assets }: SlotParts,
  context: RequestContext,
): void {
  const inserted = createInsertedHtml(context)
  const { postponed, values, marks } = shell
  inserted.html.begin(idPrefix(context.nonce), marks)
  const render = (data: RouteView['data']): LiveStream | undefined => {
    if (postponed === undefined) return undefined
    const forms = formTarget(context)
    forms.isStreamed = true
    // The head is in the shell.
    const tree = routeTree({ document, view: { ...view, data, location: forms }, modules, metadata: {} })
    const whole = createElement(ServerDocumentContext, { value: inserted.document }, tree)
    return withForms(forms, () => resumeShell(whole, postponed, context))
  }
  sendShell(
    shell,
    {
      assets,
      inserted,
      about,
      start() {
        const { data, open } = start()
        return { live: render(data), start: startSlots(open, values.next, context, inserted.html) }
      },
    },
    context,
  )
}
