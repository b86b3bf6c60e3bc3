import { createServer } from 'node:http'
import compression from 'compression'
import cors from 'cors'
import express from 'express'
import { rateLimit } from 'express-rate-limit'
import helmet from 'helmet'
import { millrace } from 'millrace/server'
import morgan from 'morgan'

const host = express()
const server = createServer(host)
const desk = await millrace({ dist: new URL('./dist/', import.meta.url), server })

host.use(morgan('tiny'), helmet(), compression())
host.use('/desk/api', cors(), rateLimit({ windowMs: 60_000, limit: 300 }))
host.get('/', (_req, res) => res.redirect('/desk'))
host.use('/desk', desk)

server.listen({ port: Number(process.env['PORT'] ?? 3000), backlog: 4096 }, () => {
  const address = server.address()
  if (typeof address === 'object') process.stdout.write(`http://localhost:${address?.port}/desk\n`)
})

process.once('SIGTERM', async () => {
  await desk.stop()
  process.exit()
})
