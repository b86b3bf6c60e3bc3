/**
 * What actions are measured against: an Express handler with the same parser, the same schema and the same write. No
 * check of the origin, no limits of time, no keys against repetitions, no log.
 */
import express from 'express'
import { formObject } from '../../src/server/http/body/form-object.ts'
import { readBody } from '../../src/server/http/body/read-body.ts'
import { entrySchema, openEntries } from './action-app/entries.ts'

const LIMITS = { bytes: 1_048_576, files: 100, fileBytes: 1_048_576, timeoutMs: 10_000, streamed: false }

const entries = openEntries(process.env['DATA_DIR'] ?? '')
const app = express().disable('x-powered-by').disable('etag')

app.get('/', (_request, response) => void response.send('ready'))
app.post('/', async (request, response) => {
  const gone = new AbortController()
  const body = await readBody(request, LIMITS, gone.signal)
  const input = entrySchema.safeParse(body.kind === 'form' ? formObject(body.fields).value : body.value)
  if (!input.success) return void response.status(422).send('invalid')
  entries.add(input.data)
  response.redirect(303, '/')
})
app.post('/upload', async (request, response) => {
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) bytes += chunk.length
  response.setHeader('X-Bytes', bytes).redirect(303, '/')
})

const server = app.listen(Number(process.env['PORT']), '127.0.0.1')
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})
