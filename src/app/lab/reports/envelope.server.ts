import { notFound } from 'millrace/server'
import type { LoaderArgs } from 'millrace/server'

/** An envelope as it was kept, to be saved and sent to a service. */
export function GET({ params, context }: LoaderArgs<'/lab/reports/envelopes/[id]'>): Response {
  const bytes = /^\d{1,15}$/.test(params.id) ? context.reports?.envelope(Number(params.id)) : undefined
  if (bytes === undefined) notFound()
  return new Response(new Uint8Array(bytes), {
    headers: {
      'Content-Type': 'application/x-sentry-envelope',
      'Content-Disposition': `attachment; filename="${params.id}.envelope"`,
      'Cache-Control': 'no-store',
    },
  })
}
