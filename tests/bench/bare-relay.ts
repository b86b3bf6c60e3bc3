/**
 * What the relay is measured against: an Express server that passes envelopes on and answers what the service says. It
 * reads nothing of them, stores nothing, knows no limits, and keeps connections to the service open.
 */
import { Agent, request as ask } from 'node:http'
import express from 'express'

const service = new URL(process.env['SERVICE'] ?? '')
const agent = new Agent({ keepAlive: true })
const app = express().disable('x-powered-by').disable('etag')

app.get('/', (_request, response) => void response.send('ready'))
app.post('/tunnel', (request, response) => {
  const headers = {
    'content-type': 'application/x-sentry-envelope',
    'content-length': request.headers['content-length'],
  }
  const onward = ask(service, { method: 'POST', agent, headers }, (answer) => {
    response.status(answer.statusCode ?? 502)
    answer.pipe(response)
  })
  onward.once('error', () => void response.status(502).end())
  request.pipe(onward)
})

const server = app.listen(Number(process.env['PORT']), '127.0.0.1')
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
  agent.destroy()
})
