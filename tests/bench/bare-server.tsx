/**
 * What everything is measured against: Express and `renderToPipeableStream`, the way React's own documentation writes
 * it, rendering the very components of the reference application. No data for a browser, no headers, no log.
 */
import express from 'express'
import type { Request, Response } from 'express'
import type { ReactNode } from 'react'
import { renderToPipeableStream } from 'react-dom/server'
import { Document } from '../../src/app/document.tsx'
import HelloPage from '../../src/app/lab/bench/hello-page.tsx'
import BenchLayout from '../../src/app/lab/bench/layout.tsx'
import LinksPage from '../../src/app/lab/bench/links-page.tsx'
import { loader } from '../../src/app/lab/bench/rows.server.ts'
import SpiralPage from '../../src/app/lab/bench/spiral-page.tsx'
import TablePage from '../../src/app/lab/bench/table-page.tsx'

const NO_PARAMS = Object.freeze({})

/** The pages of `/lab/bench/shell` have one part more, which belongs to the visitor. */
const OF_VISITORS = '/lab/bench/shell/'

function send({ path, headers }: Request, response: Response, title: string, page: ReactNode): void {
  const [, visitor = 'nobody'] = /(?:^|; )visitor=([^;]*)/.exec(headers.cookie ?? '') ?? []
  const content = path.startsWith(OF_VISITORS) ? (
    <>
      {page}
      <p data-testid="visitor">{visitor}</p>
    </>
  ) : (
    page
  )
  const head = (
    <>
      <meta charSet="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>{title}</title>
    </>
  )
  const stream = renderToPipeableStream(
    <Document head={head}>
      <BenchLayout params={NO_PARAMS} data={undefined}>
        {content}
      </BenchLayout>
    </Document>,
    {
      onShellReady() {
        response.setHeader('Content-Type', 'text/html; charset=utf-8')
        stream.pipe(response)
      },
      onShellError(error) {
        response.status(500).send(String(error))
      },
    },
  )
}

/** Calls the application's own loader, which reads nothing but `search` of its arguments. */
function load(rows: unknown): ReturnType<typeof loader> {
  return loader({ search: { n: Number(rows) } } as unknown as Parameters<typeof loader>[0])
}

const app = express().disable('x-powered-by').disable('etag')

app.get(['/', '/lab/bench/hello'], (request, response) => send(request, response, 'Hello', <HelloPage />))
app.get(['/lab/bench/spiral', `${OF_VISITORS}spiral`], (request, response) =>
  send(request, response, 'Spiral', <SpiralPage />),
)
app.get(['/lab/bench/table', `${OF_VISITORS}table`], async (request, response) => {
  const search = { n: Number(request.query['n']) }
  send(request, response, 'Table', <TablePage params={NO_PARAMS} search={search} data={await load(search.n)} />)
})
app.get(['/lab/bench/links', `${OF_VISITORS}links`], async (request, response) => {
  const search = { n: Number(request.query['n']) }
  send(request, response, 'Links', <LinksPage params={NO_PARAMS} search={search} data={await load(search.n)} />)
})

const server = app.listen(Number(process.env['PORT']), '127.0.0.1')
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})
