import type { RequestRecord } from '#client/inspect'
import { Instrument } from './instrument.tsx'

/** Requests for route data, the last one first. */
export function RequestTable({ requests }: { readonly requests: readonly RequestRecord[] }) {
  return (
    <Instrument
      testId="requests"
      title="Requests"
      columns={['Page', 'Status', 'Purpose', 'Took']}
      empty="No data has been asked for: what you see came with the document."
    >
      {requests.toReversed().map((request, index) => (
        // Records have no name, and rows no state: a place is enough.
        <tr key={index}>
          <td>
            <code>{request.href}</code>
          </td>
          <td>{statusOf(request)}</td>
          <td>{request.prefetch ? 'prefetch' : 'needed'}</td>
          <td>{request.endedAt === undefined ? 'under way' : `${request.endedAt - request.startedAt} ms`}</td>
        </tr>
      ))}
    </Instrument>
  )
}

function statusOf({ status, failed, endedAt }: RequestRecord): string {
  if (status === 0) return endedAt === undefined ? 'none yet' : (failed ?? 'none')
  return failed === undefined ? String(status) : `${status}, ${failed}`
}
