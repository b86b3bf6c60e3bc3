/** The built application on `PORT`, by React Router's own adapter for Express. */
import { join } from 'node:path'
import { createRequestHandler } from '@react-router/express'
import express from 'express'

const build = join(import.meta.dirname, 'build')
const app = express().disable('x-powered-by').disable('etag')
app.use('/assets', express.static(join(build, 'client/assets'), { immutable: true, maxAge: '1y' }))
app.all('/{*path}', createRequestHandler({ build: await import(join(build, 'server/index.js')) }))

const server = app.listen(Number(process.env.PORT), '127.0.0.1')
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})
