import type { StoredShell } from '../../stores/cache/stored-shell.ts'
import type { HeaderList } from '../../http/header-list.ts'
import { continueGzip, plainBody } from '../../request/answer/body-stream.ts'
import { privateCaching } from '../../request/answer/caching.ts'
import { send } from '../../request/answer/send.ts'
import type { RequestContext } from '../../request/context.ts'
import { DocumentSink } from './document-sink.ts'
import type { HydrationData } from './hydration-data-writer.ts'
import type { InsertedHtml } from './inserted-html.ts'
import type { LiveStream } from './render-attempt.ts'
import type { DocumentAssets } from './route-assets.ts'
import { documentHeaders, negotiate, takeCaching } from './send-document.ts'
import { followStream, startValues } from './send-stream.ts'

/** What one visitor gets beside a kept shell. */
interface ShellParts {
  readonly assets: DocumentAssets
  readonly inserted: Pick<InsertedHtml, 'take'>
  /** About the shell: its age, and why it is sent. */
  readonly about: HeaderList
  /** Starts the slots: their render, if a component waits for them, and their values. */
  readonly start: () => Required<Pick<HydrationData, 'start'>> & { readonly live: LiveStream | undefined }
}

/** Sends a kept shell, and its slots for this visitor as they are rendered. */
export function sendShell(shell: StoredShell, parts: ShellParts, context: RequestContext): void {
  const { assets, inserted, about, start } = parts
  const { nonce, req, res } = context
  const status = 200
  const gzip = negotiate(context, ['gzip']) === undefined ? undefined : shell.gzip
  const caching = privateCaching(takeCaching({ status }, context))
  const { scripts, given } = shell
  const headers = documentHeaders({ assets, status, scripts }, context, nonce, caching).concat(given, about)
  if (gzip !== undefined) headers.push('Content-Encoding', 'gzip')
  send(context, status, headers)
  if (req.method === 'HEAD') {
    res.end()
    context.abort('gone')
    return
  }
  // Headers, shell and what is ready now are one write.
  res.cork()
  process.nextTick(() => res.uncork())
  const body = gzip === undefined ? plainBody(res) : continueGzip(res, gzip)
  const sink = new DocumentSink(
    body,
    { head: '', tail: () => '', before: inserted.take, ended: () => body.tellUnread(context.place.noteUnread) },
    true,
  )
  sink.open(gzip === undefined ? shell.body : undefined)
  sink.add(assets.bootstrap(nonce))
  const slots = start()
  startValues(slots.start, sink, context)
  followStream(slots.live, sink, context)
}
